import type { Hono } from 'hono'
import { RETURNED_PATH } from '../../billing.ts'
import type { ServiceContext } from '../../context.ts'
import { type AppEnv, OWN_PAYER } from '../../http/variables.ts'
import { readCsrfForm, requireUser } from '../parts/forms.ts'
import { requireTeam } from '../parts/team.ts'
import {
  addBillingForm,
  addBillingPage,
  type BillingRoutes,
  type FormAction,
  type PageHandler,
} from './pages/add-form.ts'
import {
  downloadCreditNote,
  downloadInvoice,
  renderBilling,
  showSubscribed,
} from './pages/billing.tsx'
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
import { showReturnFailure } from './pages/returned.tsx'
import { showSwap, swap } from './pages/swap.tsx'
import { addSandboxControls } from './sections/sandbox-controls.tsx'

const PAGES: Readonly<Record<string, PageHandler>> = {
  '/swap': showSwap,
  '/cancel': showCancel,
  '/confirm': showConfirm,
  '/card/delete': showDeleteCard,
  '/credit-note/:id': downloadCreditNote,
}

/** The form actions. All of them work without script. */
const FORMS: Readonly<Record<string, FormAction>> = {
  '/subscribe': subscribe,
  '/pay': payNow,
  '/quantity': changeQuantity,
  '/resume': resume,
  '/unpause': unpause,
  '/keep-plan': keepPlan,
  '/code': useCode,
  '/checkout': checkout,
  '/portal': portal,
  '/swap': swap,
  '/plan-change': planChange,
  '/cancel': cancel,
  '/cancel-now': cancelNow,
  '/confirm': confirm,
  '/address': changeAddress,
  '/tax-id': addTaxId,
  '/tax-id/delete': removeTaxId,
  '/card': addCard,
  '/card/default': chooseMethod,
  '/card/delete': deleteMethod,
}

/** Adds the billing pages of the signed-in person. */
export function addOwnBillingPages(app: Hono<AppEnv>, service: ServiceContext): void {
  app.get(RETURNED_PATH, showReturnFailure)
  addBillingRoutes({ app, base: OWN_PAYER.path, guard: requireUser() })
  addSandboxControls(app, service)
}

/** Adds the billing pages of teams, for the members who may manage the billing of their team. */
export function addTeamBillingPages(app: Hono<AppEnv>): void {
  const routes = { app, base: '/teams/:team/billing', guard: requireTeam('bill') }
  addBillingPage(routes, '/invoice/:id', downloadInvoice)
  addBillingPage(routes, '/subscribed', showSubscribed)
  addBillingRoutes(routes)
}

function addBillingRoutes(routes: BillingRoutes): void {
  const { app, base, guard } = routes
  app.get(base, guard, (c) => renderBilling(c))
  for (const [path, show] of Object.entries(PAGES)) addBillingPage(routes, path, show)
  for (const [path, action] of Object.entries(FORMS)) addBillingForm(routes, path, action)
  // Shows what the choices on the page cost, without changing anything.
  app.post(`${base}/price`, guard, async (c) => renderBilling(c, { form: await readCsrfForm(c) }))
  // A form that failed shows the page at its own address, which a person may reload or bookmark.
  app.get(`${base}/*`, (c) => {
    const end = c.req.path.indexOf(OWN_PAYER.path) + OWN_PAYER.path.length
    return c.redirect(c.req.path.slice(0, end), 303)
  })
}
