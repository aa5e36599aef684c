import { isBillingError } from '@tollgate/billing'
import type { Hono } from 'hono'
import type { ServiceContext } from '../../../context.ts'
import type { AppEnv } from '../../../http/variables.ts'
import { readOwnForm } from '../../parts/forms.ts'
import { requireUser, userOf } from '../../parts/page-context.ts'
import { type Account, readAccount } from '../model/account.ts'
import type { Done } from '../model/notices.ts'
import { describeProblem, isDeclined } from '../model/problems.ts'
import { renderBilling } from './billing.tsx'

export interface FormRequest {
  readonly service: ServiceContext
  readonly account: Account
  readonly form: URLSearchParams
}

/** Does what a form asks for and says so, or sends the person elsewhere first. Doing it twice is doing it once. */
export type Action = (request: FormRequest) => Promise<Done | { readonly goTo: string }>

/** A form of the signed-in person. What could not be done is said on the billing page. */
export function addForm(app: Hono<AppEnv>, path: string, action: Action): void {
  app.post(path, requireUser(), async (c) => {
    const { service } = c.get('page')
    const form = await readOwnForm(c)
    const card = form.has('token')
      ? await service.limits.attemptCard(userOf(c).id, c.get('network'))
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
      const problem = describeProblem(error)
      if (!problem) throw error
      return renderBilling(c, { problem, form })
    }
  })
}
