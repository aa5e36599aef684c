import type { Hono } from 'hono'
import { RETURNED_PATH } from '../../billing.ts'
import type { ServiceContext } from '../../context.ts'
import type { AppEnv } from '../../http/variables.ts'
import { readOwnForm, requireUser } from '../parts/forms.ts'
import { addForm, addPage, type FormAction, type PageHandler } from './pages/add-form.ts'
import { downloadCreditNote, renderBilling } from './pages/billing.tsx'
import {
  changeQuantity,
  checkout,
  keepPlan,
  payNow,
  portal,
  resume,
  subscribe,
  unpause,
  useCode,
} from './pages/billing-forms.ts'
import { cancel, cancelNow, showCancel } from './pages/cancel.tsx'
import { addCard, chooseMethod, deleteMethod, showDeleteCard } from './pages/cards.tsx'
import { confirm, showConfirm } from './pages/confirm.tsx'
import { addTaxId, changeAddress, removeTaxId } from './pages/invoice-details.ts'
import { planChange } from './pages/plan-change.tsx'
import { showReturned } from './pages/returned.tsx'
import { showSwap, swap } from './pages/swap.tsx'
import { addSandboxControls } from './sections/sandbox-controls.tsx'

const PAGES: Readonly<Record<string, PageHandler>> = {
  '/billing/swap': showSwap,
  '/billing/cancel': showCancel,
  '/billing/confirm': showConfirm,
  '/billing/card/delete': showDeleteCard,
  '/billing/credit-note/:id': downloadCreditNote,
}

/** The form actions. All of them work without script. */
const FORMS: Readonly<Record<string, FormAction>> = {
  '/billing/subscribe': subscribe,
  '/billing/pay': payNow,
  '/billing/quantity': changeQuantity,
  '/billing/resume': resume,
  '/billing/unpause': unpause,
  '/billing/keep-plan': keepPlan,
  '/billing/code': useCode,
  '/billing/checkout': checkout,
  '/billing/portal': portal,
  '/billing/swap': swap,
  '/billing/plan-change': planChange,
  '/billing/cancel': cancel,
  '/billing/cancel-now': cancelNow,
  '/billing/confirm': confirm,
  '/billing/address': changeAddress,
  '/billing/tax-id': addTaxId,
  '/billing/tax-id/delete': removeTaxId,
  '/billing/card': addCard,
  '/billing/card/default': chooseMethod,
  '/billing/card/delete': deleteMethod,
}

/** Adds the billing pages of the signed-in person. */
export function addBilling(app: Hono<AppEnv>, service: ServiceContext): void {
  app.get('/billing', requireUser(), (c) => renderBilling(c))
  app.get(RETURNED_PATH, showReturned)
  for (const [path, show] of Object.entries(PAGES)) addPage(app, path, show)
  for (const [path, action] of Object.entries(FORMS)) addForm(app, path, action)
  // Shows what the choices on the page cost, without changing anything.
  app.post('/billing/price', requireUser(), async (c) =>
    renderBilling(c, { form: await readOwnForm(c) }),
  )
  addSandboxControls(app, service)
  // A form that failed shows the page at its own address, which a person may reload or bookmark.
  app.get('/billing/*', (c) => c.redirect('/billing', 303))
}
