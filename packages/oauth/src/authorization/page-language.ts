import type { HttpRequest } from '@tollgate/http'
import type { ServerContext } from '../context.ts'
import { listRequestedLanguages, type PageText } from '../pages/messages/messages.ts'
import type { PageView } from '../pages/pages.ts'

/** The language of a page, and the texts in that language. */
export interface PageLanguage {
  /** Language of the page, passed to the page's renderer. */
  readonly view: PageView
  /** Looks up texts in the page's language by their id. */
  readonly t: PageText
  /** The `ui_locales` parameter, to repeat in forms of the page. Empty if it was not sent. */
  readonly sent: ReadonlyMap<string, string>
}

/** Chooses the language of a page from `ui_locales` and the browser's languages. */
export function choosePageLanguage(
  request: Pick<HttpRequest, 'header'>,
  uiLocales: string | null | undefined,
  { options: { pageTexts } }: Pick<ServerContext, 'options'>,
): PageLanguage {
  const locales = listRequestedLanguages(request, uiLocales)
  const t = pageTexts.choose(locales)
  const sent = new Map(uiLocales ? [['ui_locales', uiLocales]] : [])
  return { view: { language: t.language, locales }, t, sent }
}
