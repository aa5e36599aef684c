import { columnsOf, converge } from '../../consistency/converge.ts'
import type { DefaultHandler } from './default-handler.ts'

/** The subscription as the provider has it now, ended early if the application wants that. */
export const subscription: DefaultHandler = async (context, { locked, gateway, subject }) => {
  const { subscriptionId, failedCharges } = subject
  if (!subscriptionId) return
  const { name: provider } = gateway
  const of = { provider, providerId: subscriptionId }
  const found = await converge(context, locked, of)
  const { maxFailedCharges } = context.options
  if (!found || failedCharges === null || maxFailedCharges === null) return
  const { standing } = columnsOf(context, provider, found)
  // An old event must not end what has been paid since.
  const isPaid = standing !== 'past_due' && standing !== 'unpaid'
  if (failedCharges < maxFailedCharges || isPaid) return
  await locked.change(provider, (changing) => changing.cancelNow(found.id))
  await converge(context, locked, of)
}
