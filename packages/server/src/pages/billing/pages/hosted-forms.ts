import type { Hono } from 'hono'
import type { AppEnv } from '../../../http/variables.ts'
import { availableProviders, parseProvider } from '../model/providers.ts'
import { addForm, type FormRequest } from './add-form.ts'
import { beginSubscription, readPlan } from './read-plan.ts'

/** Forms that end on a page of the provider's. */
export function addHostedForms(app: Hono<AppEnv>): void {
  addForm(app, '/billing/checkout', checkout)
  addForm(app, '/billing/portal', portal)
}

async function checkout(request: FormRequest) {
  const { service, form } = request
  const { billable } = request.account
  const wanted = parseProvider(form.get('provider'), availableProviders(service))
  if (wanted !== null && wanted !== billable.provider) await billable.chooseProvider(wanted)
  const payer = await service.billing.user(billable.id)
  const { url } = await beginSubscription(payer, payer.provider, readPlan(request)).checkout({
    successPath: '/billing?done=subscribed',
    cancelPath: '/billing',
  })
  return { goTo: url ?? '/billing' }
}

async function portal({ account }: FormRequest) {
  const { url } = await account.billable.billingPortal({ returnPath: '/billing' })
  return { goTo: url }
}
