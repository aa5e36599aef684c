import { PaymentMethodInUse, PaymentMethodNotFound } from '../../core/errors/errors.ts'
import type { LockedOwner } from '../../core/locked-owner.ts'
import { withOwnerLock } from '../../core/owner-lock.ts'
import type { UserScopeWith } from '../../core/user-scope.ts'
import { requireText } from '../../core/values/arguments.ts'
import type { CustomerDetails } from '../../providers/customer.ts'
import { requireGatewayPart } from '../../providers/gateway-parts.ts'
import type { PaymentMethodKind, ProviderPaymentMethod } from '../../providers/payment-method.ts'
import { ensureCustomer, withExistingCustomer } from '../customers/customer.ts'
import type { PaymentMethods } from './contract.ts'
import { PaymentMethod } from './payment-method.ts'
import { setBilledCard } from './set-billed-card.ts'

type User = UserScopeWith<'paymentMethods'>

/** Options for `addPaymentMethod()`. */
export interface AddPaymentMethodOptions {
  /**
   * Whether the added payment method becomes the default. A customer's first payment method always
   * becomes the default.
   * @default false
   */
  readonly makeDefault?: boolean
  /**
   * Name, e-mail and other details for a new customer. Only used if the user has no customer yet.
   */
  readonly details?: CustomerDetails
}

export async function listPaymentMethods(
  user: User,
  kind?: PaymentMethodKind,
): Promise<PaymentMethod[]> {
  const customerId = await user.findCustomerId()
  if (customerId === null) return []
  const all = await (await user.gateway()).paymentMethods.list(customerId)
  return all.filter(matchesKind(kind)).map((method) => new PaymentMethod(method, user.now()))
}

export async function findUserPaymentMethod(user: User, id: string): Promise<PaymentMethod | null> {
  return (await listPaymentMethods(user)).find((method) => method.id === id) ?? null
}

export async function findDefaultPaymentMethod(user: User): Promise<PaymentMethod | null> {
  return (await listPaymentMethods(user)).find(({ isDefault }) => isDefault) ?? null
}

export async function hasUserPaymentMethod(user: User, kind?: PaymentMethodKind): Promise<boolean> {
  return (await listPaymentMethods(user, kind)).length > 0
}

export async function addUserPaymentMethod(
  user: User,
  token: string,
  { makeDefault = false, details = {} }: AddPaymentMethodOptions,
): Promise<PaymentMethod> {
  requireText('card token', token)
  const { context, owner, provider } = user
  const added = await withOwnerLock(context, owner, async (locked) => {
    const wanted = { provider, token: null, details, mayLackCard: true }
    const customerId = await ensureCustomer(context, locked, wanted)
    const { id } = await changePaymentMethods(user, locked, (methods) =>
      methods.add(customerId, token),
    )
    const { paymentMethods } = await user.gateway()
    const isFirst = (await paymentMethods.list(customerId)).every(({ isDefault }) => !isDefault)
    if (makeDefault || isFirst) {
      await changePaymentMethods(user, locked, (methods) => methods.setDefault(customerId, id))
    }
    const made = (await paymentMethods.list(customerId)).find((method) => method.id === id)
    await storeDefaultCard(user, locked, customerId, made?.isDefault)
    return made
  })
  await user.user.reload()
  context.usage.wake(provider)
  if (added) return new PaymentMethod(added, user.now())
  throw new PaymentMethodNotFound('The payment method was removed again before it could be read')
}

export async function setDefaultPaymentMethod(user: User, id: string): Promise<void> {
  requireText('payment method', id)
  if ((await user.findCustomerId()) === null) {
    throw new PaymentMethodNotFound('There is no such payment method')
  }
  await withExistingCustomer(user, async (locked, customerId) => {
    await changePaymentMethods(user, locked, (methods) => methods.setDefault(customerId, id))
    await storeDefaultCard(user, locked, customerId, true)
  })
  await user.user.reload()
  user.context.usage.wake(user.provider)
}

export function deleteUserPaymentMethod(user: User, id: string): Promise<void> {
  requireText('payment method', id)
  return deleteAll(user, (method) => method.id === id)
}

export function deleteUserPaymentMethods(user: User, kind?: PaymentMethodKind): Promise<void> {
  return deleteAll(user, matchesKind(kind))
}

/**
 * Deletes all wanted payment methods.
 * @throws PaymentMethodInUse if one of them is in use. Then none is deleted.
 */
async function deleteAll(
  user: User,
  isWanted: (method: ProviderPaymentMethod) => boolean,
): Promise<void> {
  if ((await user.findCustomerId()) === null) return
  await withExistingCustomer(user, async (locked, customerId) => {
    const { paymentMethods } = await user.gateway()
    const wanted = (await paymentMethods.list(customerId)).filter(isWanted)
    for (const { id } of wanted) {
      if (!(await paymentMethods.isInUse(customerId, id))) continue
      throw new PaymentMethodInUse(
        'A subscription is billed to this payment method: make another one the default first',
      )
    }
    for (const { id } of wanted) {
      await changePaymentMethods(user, locked, (methods) => methods.remove(customerId, id))
    }
    // Also if nothing was deleted: an earlier call may have crashed before this step.
    await storeDefaultCard(user, locked, customerId)
  })
  await user.user.reload()
}

function changePaymentMethods<R>(
  { provider }: User,
  locked: LockedOwner,
  ask: (methods: PaymentMethods) => Promise<R>,
): Promise<R> {
  return locked.change(provider, (gateway) => ask(requireGatewayPart(gateway, 'paymentMethods')))
}

/** Stores the current default card in our columns. */
async function storeDefaultCard(
  user: User,
  locked: LockedOwner,
  customerId: string,
  isOther = false,
): Promise<void> {
  const { context, provider } = user
  const customer = await (await locked.gateway(provider)).findCustomer(customerId)
  if (!customer) return
  await setBilledCard(context, locked, provider, customer.card, { isOther })
}

function matchesKind(
  kind: PaymentMethodKind | undefined,
): (method: ProviderPaymentMethod) => boolean {
  return (method) => kind === undefined || method.kind === kind
}
