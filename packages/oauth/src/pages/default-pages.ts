import { renderConsentPage } from './consent-page.ts'
import { renderDevicePage } from './device-page.ts'
import { renderErrorPage } from './error-page.ts'
import { createPageTexts, type PageTexts } from './messages/messages.ts'
import type { Pages, PageView } from './pages.ts'
import { renderSignedOutPage, renderSignOutPage } from './sign-out-page.ts'
import { stylesheet } from './stylesheet.ts'

export { escapeHtml } from '@tollgate/http'

export function createDefaultPages(texts: PageTexts): Pages {
  const of = ({ language }: PageView) => texts.choose([language])
  return {
    consent: (view) => renderConsentPage(view, of(view)),
    signOut: (view) => renderSignOutPage(view, of(view)),
    signedOut: (view) => renderSignedOutPage(view, of(view)),
    device: (view) => renderDevicePage(view, of(view)),
    error: (view) => renderErrorPage(view, of(view)),
    stylesheet,
  }
}

/**
 * The built-in pages in English and German, without script. Use them to
 * extend single pages or the stylesheet. They do not contain the texts of the option `messages`.
 * @example
 * const stylesheet = `${defaultPages.stylesheet}\n:root { --page: #fdf6e3 }`
 * createAuthorizationServer({ …, pages: { stylesheet } })
 */
export const defaultPages: Pages = createDefaultPages(createPageTexts())
