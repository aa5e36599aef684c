import { type BillableOwner, isBillingError } from '@tollgate/billing'
import type { Context, Hono, MiddlewareHandler } from 'hono'
import type { ServiceContext } from '../../../context.ts'
import type { AppEnv } from '../../../http/variables.ts'
import { getSignedInUser, readCsrfForm } from '../../parts/forms.ts'
import { type BillingAccount, readAccount } from '../model/account.ts'
import type { CompletedBillingAction } from '../model/notices.ts'
import { describeProblem, isDeclined } from '../model/problems.ts'
import { renderBilling } from './billing.tsx'

/** Path of the billing pages of one kind of owner, and the guard in front of them. */
export interface BillingRoutes {
  readonly app: Hono<AppEnv>
  /** Pattern of the path of the billing page. */
  readonly base: string
  /** Lets only people through who may act for the owner, and sets the payer of the page. */
  readonly guard: MiddlewareHandler<AppEnv>
}

export interface FormRequest {
  readonly service: ServiceContext
  readonly account: BillingAccount
  readonly form: URLSearchParams
}

/**
 * Handles a form and returns the notice to show or the URL to redirect to. Must be idempotent,
 * because a form may be sent twice.
 */
export type FormAction = (
  request: FormRequest,
) => Promise<CompletedBillingAction | { readonly goTo: string }>

/**
 * Adds the route of a form to the billing pages. If its action fails, the billing page shows why.
 */
export function addBillingForm(
  { app, base, guard }: BillingRoutes,
  path: string,
  action: FormAction,
): void {
  app.post(`${base}${path}`, guard, async (c) => {
    const { service, payer } = c.get('page')
    const form = await readCsrfForm(c)
    const card = form.has('token')
      ? await service.limits.attemptCard(getSignedInUser(c).id, c.get('network'))
      : null
    try {
      const account = await readAccount(c)
      const done = await action({ service, account, form })
      await card?.accepted()
      return c.redirect(typeof done === 'string' ? `${payer.path}?done=${done}` : done.goTo, 303)
    } catch (error) {
      await (isDeclined(error) ? card?.declined() : card?.withdrawn())
      if (isBillingError(error, 'payment_action_required'))
        return c.redirect(`${payer.path}/confirm`, 303)
      const problem = describeProblem(error, c.get('page').t)
      if (!problem) throw error
      return renderBilling(c, { problem, form })
    }
  })
}

/** Reads the owner again, after its provider has changed. */
export function reloadPayer({
  service,
  account,
}: Pick<FormRequest, 'service' | 'account'>): Promise<BillableOwner> {
  const { type, id } = account.billable.owner
  return service.billing.owner(type, id)
}

export type PageHandler = (c: Context<AppEnv>) => Response | Promise<Response>

/**
 * Adds the route of a page to the billing pages. If it cannot be shown, the billing page shows why.
 */
export function addBillingPage(
  { app, base, guard }: BillingRoutes,
  path: string,
  show: PageHandler,
): void {
  app.get(`${base}${path}`, guard, async (c) => {
    try {
      return await show(c)
    } catch (error) {
      const problem = describeProblem(error, c.get('page').t)
      if (!problem) throw error
      return renderBilling(c, { problem })
    }
  })
}
