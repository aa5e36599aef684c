import { consentPage } from './consent-page.ts'
import { devicePage } from './device-page.ts'
import { errorPage } from './error-page.ts'
import type { Pages } from './pages.ts'
import { signedOutPage, signOutPage } from './sign-out-page.ts'
import { stylesheet } from './stylesheet.ts'

export { escapeHtml } from '../http/document.ts'

/** Plain pages without script, for applications that have none of their own. */
export const defaultPages: Pages = {
  consent: consentPage,
  signOut: signOutPage,
  signedOut: signedOutPage,
  device: devicePage,
  error: errorPage,
  stylesheet,
}
