import { converge } from '../../consistency/converge.ts'
import type { DefaultHandler } from './default-handler.ts'

/** A customer who is gone at the provider, and all subscriptions with them. */
export const deletedCustomer: DefaultHandler = async (context, { locked, gateway, subject }) => {
  const { customerDeleted, customerId } = subject
  if (!customerDeleted || !customerId || (await gateway.findCustomer(customerId))) return
  for (const row of await context.subscriptions.listByOwner(locked.owner)) {
    if (row.provider === gateway.name) await converge(context, locked, row)
  }
  const gone = { provider: gateway.name, providerId: customerId }
  await locked.lock.write((tx) => context.owners.clearCustomer(locked.owner, gone, tx))
}
