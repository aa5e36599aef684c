import type { Hono } from 'hono'
import type { ServiceContext } from '../../context.ts'
import type { AppEnv } from '../../http/variables.ts'
import { addBillingPage } from './pages/billing.tsx'
import { addBillingForms } from './pages/billing-forms.ts'
import { addCancelPage } from './pages/cancel.tsx'
import { addCardForms } from './pages/card-forms.ts'
import { addConfirmPage } from './pages/confirm.tsx'
import { addCreditNotePage } from './pages/credit-note.ts'
import { addHostedForms } from './pages/hosted-forms.ts'
import { addReturnedPage } from './pages/returned.tsx'
import { addSwapPage } from './pages/swap.tsx'
import { addSandboxControls } from './sections/sandbox-strip.tsx'

/** What the signed-in person pays for. Each page is registered with its forms; every form works without script. */
export function addBilling(app: Hono<AppEnv>, service: ServiceContext): void {
  addBillingPage(app)
  addBillingForms(app)
  addCardForms(app)
  addHostedForms(app)
  addReturnedPage(app)
  addSwapPage(app)
  addCancelPage(app)
  addConfirmPage(app)
  addCreditNotePage(app)
  addSandboxControls(app, service)
  // What a form has answered stands at the form's own address, which somebody may open again.
  app.get('/billing/*', (c) => c.redirect('/billing', 303))
}
