import type { ProviderName } from '@tollgate/billing'
import type { Hono } from 'hono'
import type { AppEnv } from '../../../http/variables.ts'
import { stays } from '../../parts/confirmation.tsx'
import { cardEntryOf, parseToken } from '../model/card-entry.ts'
import { BadChoice } from '../model/problems.ts'
import { availableProviders, parseProvider } from '../model/providers.ts'
import { findTestCard, rehearse } from '../model/test-cards.ts'
import { addForm, type FormRequest } from './add-form.ts'
import { addDeleteCardPage } from './delete-card.tsx'

/** What the person pays with: added, chosen, deleted. */
export function addCardForms(app: Hono<AppEnv>): void {
  addForm(app, '/billing/card', addCard)
  addForm(app, '/billing/card/default', chooseMethod)
  addForm(app, '/billing/card/delete', deleteMethod)
  addDeleteCardPage(app)
}

async function addCard(request: FormRequest) {
  const { token } = await readCard(request)
  const payer = await request.service.billing.user(request.account.billable.id)
  const isForLater = request.form.get('later') === 'yes'
  if (isForLater) await payer.addPaymentMethod(token)
  else await payer.updateCard(token)
  await rehearseCard(request, token)
  return isForLater ? ('card-added' as const) : ('card-changed' as const)
}

async function chooseMethod({ account, form }: FormRequest) {
  await account.billable.updateDefaultPaymentMethod(readMethod(form))
  return 'card-changed' as const
}

async function deleteMethod({ account, form }: FormRequest) {
  if (stays(form)) return { goTo: '/billing' }
  await account.billable.deletePaymentMethod(readMethod(form))
  return 'card-deleted' as const
}

/** An id of the provider's. Whose it is, billing looks. */
function readMethod(form: URLSearchParams): string {
  const id = form.get('method') ?? ''
  if (/^[\w-]{1,200}$/.test(id)) return id
  throw new BadChoice('Please choose a payment method.')
}

/** The card of the form, at the provider that it is for. */
export async function readCard({
  service,
  account,
  form,
}: FormRequest): Promise<{ provider: ProviderName; token: string }> {
  const { billable } = account
  const wanted = parseProvider(form.get('provider'), availableProviders(service))
  const provider = wanted ?? billable.provider
  const token = parseToken(cardEntryOf(service, provider), form.get('token'))
  if (provider !== billable.provider) await billable.chooseProvider(provider)
  return { provider, token }
}

/** In the demo some cards work at first and fail later. */
export async function rehearseCard(
  { service, account }: FormRequest,
  token: string | null,
): Promise<void> {
  const { sandbox, billing } = service
  if (!sandbox || token === null) return
  const { provider, providerId } = await billing.user(account.billable.id)
  if (providerId !== null) rehearse(sandbox, providerId, findTestCard(provider, token))
}
