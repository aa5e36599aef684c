import type { BillingContext } from '../context.ts'
import type { ProviderName } from '../errors.ts'
import type { Gateway } from '../gateways/contract/gateway.ts'
import type { HeldLock } from '../storage/locks.ts'

/** Whose rows are written and whose provider objects are changed, by nobody else meanwhile. */
export interface Owner {
  readonly userId: string | number
  readonly lock: HeldLock
  /** Refuses to change anything once the lock is lost. */
  gateway(name: ProviderName): Promise<Gateway>
}

/** A user's operations and events happen one after the other, on all processes. */
export function asOwner<R>(
  context: BillingContext,
  userId: string | number,
  work: (owner: Owner) => Promise<R>,
): Promise<R> {
  return context.locks.hold(`user:${userId}`, (lock) =>
    work({
      userId,
      lock,
      gateway: async (name) => guard(await context.gateway(name), lock),
    }),
  )
}

const CHANGES = [
  'createCustomer',
  'setCard',
  'createSubscription',
  'abandon',
  'swap',
  'replace',
  'setQuantity',
  'setTax',
  'cancelAtPeriodEnd',
  'cancelNow',
  'resume',
  'charge',
  'invoiceFor',
  'payInvoice',
  'payNow',
] as const satisfies readonly (keyof Gateway)[]

/** A process that slept while another took over must not undo at the provider what that one did. */
function guard(gateway: Gateway, lock: HeldLock): Gateway {
  const guarded = CHANGES.map((name) => {
    const change = gateway[name] as (...args: unknown[]) => Promise<unknown>
    const call = async (...args: unknown[]) => {
      await lock.check()
      return change(...args)
    }
    return [name, call]
  })
  return { ...gateway, ...Object.fromEntries(guarded) }
}
