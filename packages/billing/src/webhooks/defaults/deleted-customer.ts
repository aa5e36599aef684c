import { converge } from '../../consistency/converge.ts'
import type { DefaultHandler } from './default-handler.ts'

/** A customer who is gone at the provider, and all subscriptions with them. */
export const deletedCustomer: DefaultHandler = async (context, { locked, gateway, subject }) => {
  const { customerDeleted, customerId } = subject
  if (!customerDeleted || !customerId || (await gateway.findCustomer(customerId))) return
  for (const row of await context.subscriptions.listByUser(locked.userId)) {
    if (row.provider === gateway.name) await converge(context, locked, row)
  }
  await locked.lock.write((tx) => context.users.clearCustomer(gateway.name, customerId, tx))
}
