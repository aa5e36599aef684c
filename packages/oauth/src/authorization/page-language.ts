import type { HttpRequest } from '@tollgate/http'
import type { ServerContext } from '../context.ts'
import { languagesOf, type PageText } from '../pages/messages/messages.ts'
import type { PageView } from '../pages/pages.ts'

/** The language of a page, and the texts in it. */
export interface LanguageOfPage {
  /** Language of the page itself. */
  readonly view: PageView
  /** Looks up texts that are part of the page's view. */
  readonly t: PageText
  /** The `ui_locales` parameter, to repeat in forms of the page. Empty if it was not sent. */
  readonly sent: ReadonlyMap<string, string>
}

/** Chooses the language of a page from `ui_locales` and the browser's languages. */
export function pageFor(
  request: Pick<HttpRequest, 'header'>,
  uiLocales: string | null | undefined,
  { options: { pageTexts } }: Pick<ServerContext, 'options'>,
): LanguageOfPage {
  const locales = languagesOf(request, uiLocales)
  const t = pageTexts.choose(locales)
  const sent = new Map(uiLocales ? [['ui_locales', uiLocales]] : [])
  return { view: { language: t.language, locales }, t, sent }
}
