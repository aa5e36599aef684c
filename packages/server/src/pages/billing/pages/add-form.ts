import { isBillingError } from '@tollgate/billing'
import type { Context, Hono } from 'hono'
import type { ServiceContext } from '../../../context.ts'
import type { AppEnv } from '../../../http/variables.ts'
import { getSignedInUser, readOwnForm, requireUser } from '../../parts/forms.ts'
import { type BillingAccount, readAccount } from '../model/account.ts'
import type { CompletedBillingAction } from '../model/notices.ts'
import { describeProblem, isDeclined } from '../model/problems.ts'
import { renderBilling } from './billing.tsx'

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
 * Adds the route of a form for the signed-in person. If its action fails, the billing page shows
 * why.
 */
export function addForm(app: Hono<AppEnv>, path: string, action: FormAction): void {
  app.post(path, requireUser(), async (c) => {
    const { service } = c.get('page')
    const form = await readOwnForm(c)
    const card = form.has('token')
      ? await service.limits.attemptCard(getSignedInUser(c).id, c.get('network'))
      : null
    try {
      const account = await readAccount(c)
      const done = await action({ service, account, form })
      await card?.accepted()
      return c.redirect(typeof done === 'string' ? `/billing?done=${done}` : done.goTo, 303)
    } catch (error) {
      await (isDeclined(error) ? card?.declined() : card?.withdrawn())
      if (isBillingError(error, 'payment_action_required'))
        return c.redirect('/billing/confirm', 303)
      const problem = describeProblem(error, c.get('page').t)
      if (!problem) throw error
      return renderBilling(c, { problem, form })
    }
  })
}

export type PageHandler = (c: Context<AppEnv>) => Response | Promise<Response>

/**
 * Adds the route of a page for the signed-in person. If it cannot be shown, the billing page shows
 * why.
 */
export function addPage(app: Hono<AppEnv>, path: string, show: PageHandler): void {
  app.get(path, requireUser(), async (c) => {
    try {
      return await show(c)
    } catch (error) {
      const problem = describeProblem(error, c.get('page').t)
      if (!problem) throw error
      return renderBilling(c, { problem })
    }
  })
}
