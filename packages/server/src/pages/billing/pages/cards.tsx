import type { ProviderName } from '@tollgate/billing'
import type { Context } from 'hono'
import type { AppEnv } from '../../../http/variables.ts'
import { Confirmation, isCancelled } from '../../parts/confirmation.tsx'
import { renderPage } from '../../parts/render.tsx'
import { readAccount } from '../model/account.ts'
import { createCardEntry, parseToken } from '../model/card-entry.ts'
import { describeMethod } from '../model/describe-card.ts'
import { BadChoice } from '../model/problems.ts'
import { availableProviders, parseProvider } from '../model/providers.ts'
import { findTestCard, setUpDeclines } from '../model/test-cards.ts'
import { type FormRequest, reloadPayer } from './add-form.ts'

export async function addCard(request: FormRequest) {
  const { token } = await readCard(request)
  const payer = await reloadPayer(request)
  const isForLater = request.form.get('later') === 'yes'
  if (isForLater) await payer.addPaymentMethod(token)
  else await payer.updateCard(token)
  await setUpTestCardDeclines(request, token)
  return isForLater ? ('card-added' as const) : ('card-changed' as const)
}

export async function chooseMethod({ account, form }: FormRequest) {
  await account.billable.updateDefaultPaymentMethod(readMethod(form))
  return 'card-changed' as const
}

export async function deleteMethod({ account, form }: FormRequest) {
  if (isCancelled(form)) return { goTo: account.path }
  await account.billable.deletePaymentMethod(readMethod(form))
  return 'card-deleted' as const
}

/** The id of a payment method. Billing checks that it belongs to the customer. */
function readMethod(form: URLSearchParams): string {
  const id = form.get('method') ?? ''
  if (/^[\w-]{1,200}$/.test(id)) return id
  throw new BadChoice('problem.chooseMethod')
}

/** Reads the card token from the form, and determines the provider it belongs to. */
export async function readCard({
  service,
  account,
  form,
}: FormRequest): Promise<{ provider: ProviderName; token: string }> {
  const { billable } = account
  const wanted = parseProvider(form.get('provider'), availableProviders(service))
  const provider = wanted ?? billable.provider
  const token = parseToken(createCardEntry(service, provider), form.get('token'))
  if (provider !== billable.provider) await billable.chooseProvider(provider)
  return { provider, token }
}

/**
 * Makes the sandbox decline later charges if the token belongs to a test card with this behavior. Does nothing in
 * production.
 */
export async function setUpTestCardDeclines(
  { service, account }: FormRequest,
  token: string | null,
): Promise<void> {
  const { sandbox } = service
  if (!sandbox || token === null) return
  const { provider, providerId } = await reloadPayer({ service, account })
  if (providerId !== null) setUpDeclines(sandbox, providerId, findTestCard(provider, token))
}

/** Asks for confirmation before a payment method is deleted. */
export async function showDeleteCard(c: Context<AppEnv>): Promise<Response> {
  const { billable, path } = await readAccount(c)
  const methods = await billable.paymentMethods()
  const method = methods.find(({ id }) => id === c.req.query('method'))
  if (!method) return c.redirect(path, 303)
  const { t } = c.get('page')
  return renderPage(
    c,
    { title: t('method.deleteTitle') },
    <Confirmation
      title={t('method.deleteQuestion', { method: describeMethod(method, t) })}
      action={`${path}/card/delete`}
      fields={{ method: method.id }}
      cancelLabel={t('method.stay')}
      confirmLabel={t('method.go')}
    >
      <p>{t('method.deleteText')}</p>
    </Confirmation>,
  )
}
