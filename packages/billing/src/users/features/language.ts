import { readLocale } from '../../customers/read-locale.ts'
import type { DownloadOptions } from '../../invoices/download.ts'
import type { UserScope } from '../user-scope.ts'

/** In the language that the provider has for the customer, where the application says none. */
export async function inTheirLanguage(
  { context, user }: UserScope,
  options: DownloadOptions,
): Promise<DownloadOptions> {
  const locale = options.locale ?? (await readLocale(context, user.record))
  return locale === null ? options : { ...options, locale }
}
