import type braintree from 'braintree'
import { UnknownPlan } from '../../../errors.ts'
import { money, toDecimal } from '../../../values/money.ts'
import { addTax, type BasisPoints, removeTax, type TaxTerms } from '../../../values/tax.ts'
import type { WantedItem } from '../../contract/item.ts'
import type { BraintreeContext } from '../sdk/client.ts'
import { countsIn, cyclesLeft, hasCyclesLeft, type Modification, toMinor } from './plan-credit.ts'
import type { Plan } from './plans.ts'

// Further prices of a subscription are add-ons. Each holds its tax, as the price of the plan does.

/** Add-ons by their id, as the control panel has them: without tax. */
export type AddOns = ReadonlyMap<string, Modification>

/** An add-on that a subscription is to have. */
export interface WantedAddOn {
  readonly id: string
  /** Of one, with the tax. */
  readonly amount: number
  readonly quantity: number
  /** Null for one that never ends. */
  readonly cycles: number | null
}

export type AddOnChanges = Pick<braintree.SubscriptionRequest, 'addOns'>

/** Asked only where one is to be added, or may have to be told from its amount with tax. */
export async function readAddOns({ gateway }: BraintreeContext): Promise<AddOns> {
  return new Map((await gateway.addOn.all()).map((each) => [each.id, each]))
}

/** Those that count in this cycle or a later one. */
export function countingAddOns({
  addOns = [],
  currentBillingCycle,
}: Pick<braintree.Subscription, 'addOns' | 'currentBillingCycle'>): Modification[] {
  return addOns.filter((each) => hasCyclesLeft(each) || countsIn(each, currentBillingCycle))
}

/** What a new subscription of the plan gets by itself, and the further prices. */
export function addOnsOfNew(
  plan: Plan,
  items: readonly WantedItem[],
  { addOns, tax }: { readonly addOns: AddOns; readonly tax: BasisPoints },
): WantedAddOn[] {
  const own = plan.addOns.map((each) => withTax(each, tax, plan.currency))
  const quantityOf = (id: string) => items.find(({ price }) => price === id)?.quantity
  const others = items.filter(({ price }) => !own.some(({ id }) => id === price))
  return [
    ...own.map((each) => ({ ...each, quantity: quantityOf(each.id) ?? each.quantity })),
    ...others.map((item) => added(item, { addOns, tax, currency: plan.currency })),
  ]
}

/** Exactly these: those that are there with what they cost, and others as the control panel has them. */
export function addOnsOfList(
  present: readonly Modification[],
  items: readonly WantedItem[],
  terms: Retaxing,
): WantedAddOn[] {
  const kept = retaxed(present, terms)
  return items.map((item) => {
    const known = kept.find(({ id }) => id === item.price)
    if (!known) return added(item, { ...terms, tax: terms.after })
    return { ...known, quantity: item.quantity ?? known.quantity }
  })
}

export interface Retaxing {
  readonly addOns: AddOns
  readonly currency: string
  /** Null where it is not known: then amounts stay as they are. */
  readonly before: TaxTerms | null
  readonly after: BasisPoints
}

/** The same add-ons with another tax. */
export function retaxed(present: readonly Modification[], terms: Retaxing): WantedAddOn[] {
  const { before, after, currency, addOns } = terms
  return present.map((each) => {
    const same = toWanted(each, currency)
    if (before === null || before.tax === after) return same
    const listed = toMinor(addOns.get(each.id)?.amount, currency)
    // Those that a plan brought along had no tax on top in earlier versions.
    const isListed = [listed, addTax(listed, before.tax)].includes(same.amount)
    const net = isListed ? listed : removeTax(same.amount, before.tax)
    return { ...same, amount: addTax(net, after) }
  })
}

/** What has to be said to get from those that are there to these. */
export function addOnChanges(
  present: readonly Modification[],
  wanted: readonly WantedAddOn[],
  currency: string,
): AddOnChanges {
  const toAmount = (amount: number) => toDecimal(money(amount, currency))
  const find = (id: string) => present.find((each) => each.id === id)
  const update = wanted.flatMap(({ id, amount, quantity }) => {
    const old = find(id)
    const isSame =
      old && toMinor(old.amount, currency) === amount && (old.quantity ?? 1) === quantity
    return !old || isSame ? [] : [{ existingId: id, amount: toAmount(amount), quantity }]
  })
  const add = wanted
    .filter(({ id }) => !find(id))
    .map(({ id, amount, quantity, cycles }) => ({
      inheritedFromId: id,
      amount: toAmount(amount),
      quantity,
      ...(cycles === null ? { neverExpires: true } : { numberOfBillingCycles: cycles }),
    }))
  const remove = present.flatMap(({ id }) => (wanted.some((each) => each.id === id) ? [] : [id]))
  const changes = {
    ...(add.length > 0 ? { add } : {}),
    ...(update.length > 0 ? { update } : {}),
    ...(remove.length > 0 ? { remove } : {}),
  }
  return Object.keys(changes).length > 0 ? { addOns: changes } : {}
}

/** The add-ons as such a request leaves them, and which of them it adds. */
export function afterChanges(
  present: readonly Modification[],
  { addOns }: AddOnChanges,
): { readonly kept: Modification[]; readonly added: Modification[] } {
  const { add = [], update = [], remove = [] } = addOns ?? {}
  return {
    kept: present
      .filter(({ id }) => !remove.includes(id))
      .map((each) => ({ ...each, ...update.find(({ existingId }) => existingId === each.id) })),
    added: add.map((each) => ({ ...each, id: each.inheritedFromId }) as Modification),
  }
}

function added(
  { price, quantity }: WantedItem,
  terms: { readonly addOns: AddOns; readonly tax: BasisPoints; readonly currency: string },
): WantedAddOn {
  const listed = terms.addOns.get(price)
  if (!listed) {
    throw new UnknownPlan(`Braintree has no add-on '${price}'`, {
      provider: 'braintree',
      providerCode: '92013',
    })
  }
  return { ...withTax(listed, terms.tax, terms.currency), quantity: quantity ?? 1 }
}

function withTax(each: Modification, tax: BasisPoints, currency: string): WantedAddOn {
  const wanted = toWanted(each, currency)
  return { ...wanted, amount: addTax(wanted.amount, tax) }
}

function toWanted(each: Modification, currency: string): WantedAddOn {
  return {
    id: each.id,
    amount: toMinor(each.amount, currency),
    quantity: each.quantity ?? 1,
    cycles: each.neverExpires ? null : cyclesLeft(each),
  }
}
