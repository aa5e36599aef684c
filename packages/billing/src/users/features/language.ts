import { localeOf } from '../../customers/locale-of.ts'
import type { DownloadOptions } from '../../invoices/download.ts'
import type { UserScope } from '../user-scope.ts'

/** In the language of all that they read, where the caller says none. */
export async function inTheirLanguage(
  { context, user }: UserScope,
  options: DownloadOptions,
): Promise<DownloadOptions> {
  return { ...options, locale: options.locale ?? (await localeOf(context, user.record)) }
}
