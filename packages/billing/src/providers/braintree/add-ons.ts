import type braintree from 'braintree'
import { UnknownPrice } from '../../core/errors/errors.ts'
import { money, toDecimal } from '../../core/values/money.ts'
import { addTax, type BasisPoints, removeTax, type TaxTerms } from '../../core/values/tax.ts'
import type { RequestedItem } from '../item.ts'
import type { BraintreeContext } from './client.ts'
import {
  type AddOnOrDiscount,
  appliesInCycle,
  countCyclesLeft,
  hasCyclesLeft,
  toMinorUnits,
} from './plan-credit.ts'
import type { PlanWithAddOns } from './plans.ts'

// Additional prices of a subscription are add-ons. The amount of each includes its tax, like the
// price of the plan.

/** Add-ons by id as defined in Braintree's control panel, without tax. */
export type AddOns = ReadonlyMap<string, AddOnOrDiscount>

/** An add-on that a subscription should have. */
export interface RequestedAddOn {
  readonly id: string
  /** Amount per unit, including tax, in the currency's smallest unit. */
  readonly amount: number
  readonly quantity: number
  /**
   * Number of billing cycles for which the add-on is charged. `null` if the add-on never expires.
   */
  readonly cycles: number | null
}

export type AddOnChanges = Pick<braintree.SubscriptionRequest, 'addOns'>

/** Lists the add-ons defined in Braintree's control panel, with their amounts without tax. */
export async function readAddOns({ gateway }: BraintreeContext): Promise<AddOns> {
  return new Map((await gateway.addOn.all()).map((each) => [each.id, each]))
}

/** Lists the add-ons that apply in the current cycle or a later one. */
export function listApplicableAddOns({
  addOns = [],
  currentBillingCycle,
}: Pick<braintree.Subscription, 'addOns' | 'currentBillingCycle'>): AddOnOrDiscount[] {
  return addOns.filter((each) => hasCyclesLeft(each) || appliesInCycle(each, currentBillingCycle))
}

/**
 * Returns the add-ons of a new subscription: those that its plan includes, and the additional
 * prices.
 */
export function buildNewSubscriptionAddOns(
  plan: PlanWithAddOns,
  items: readonly RequestedItem[],
  { addOns, tax }: { readonly addOns: AddOns; readonly tax: BasisPoints },
): RequestedAddOn[] {
  const own = plan.addOns.map((each) => toTaxedAddOn(each, tax, plan.currency))
  const quantityOf = (id: string) => items.find(({ price }) => price === id)?.quantity
  const others = items.filter(({ price }) => !own.some(({ id }) => id === price))
  return [
    ...own.map((each) => ({ ...each, quantity: quantityOf(each.id) ?? each.quantity })),
    ...others.map((item) => toRequestedAddOn(item, { addOns, tax, currency: plan.currency })),
  ]
}

/**
 * Returns one add-on for each item. Present add-ons keep their amounts, and new ones get the
 * amounts defined at Braintree.
 */
export function buildItemAddOns(
  present: readonly AddOnOrDiscount[],
  items: readonly RequestedItem[],
  terms: TaxChange,
): RequestedAddOn[] {
  const kept = buildAddOnsWithTaxRate(present, terms)
  return items.map((item) => {
    const known = kept.find(({ id }) => id === item.price)
    if (!known) return toRequestedAddOn(item, { ...terms, tax: terms.after })
    return { ...known, quantity: item.quantity ?? known.quantity }
  })
}

export interface TaxChange {
  readonly addOns: AddOns
  readonly currency: string
  /** The previous tax terms. `null` if they are unknown: then the amounts stay as they are. */
  readonly before: TaxTerms | null
  readonly after: BasisPoints
}

/** Returns the present add-ons with another tax rate. */
export function buildAddOnsWithTaxRate(
  present: readonly AddOnOrDiscount[],
  terms: TaxChange,
): RequestedAddOn[] {
  const { before, after, currency, addOns } = terms
  return present.map((each) => {
    const same = toUntaxedAddOn(each, currency)
    if (before === null || before.tax === after) return same
    const listed = toMinorUnits(addOns.get(each.id)?.amount, currency)
    // An add-on of a subscription that was not created by billing, but in Braintree's control panel
    // or by Cashier, has the listed amount, without tax.
    const isListed = [listed, addTax(listed, before.tax)].includes(same.amount)
    const net = isListed ? listed : removeTax(same.amount, before.tax)
    return { ...same, amount: addTax(net, after) }
  })
}

/** Returns the request that changes the present add-ons to the requested add-ons. */
export function buildAddOnChanges(
  currentAddOns: readonly AddOnOrDiscount[],
  requestedAddOns: readonly RequestedAddOn[],
  currency: string,
): AddOnChanges {
  const toAmount = (amount: number) => toDecimal(money(amount, currency))
  const find = (id: string) => currentAddOns.find((each) => each.id === id)
  const update = requestedAddOns.flatMap(({ id, amount, quantity }) => {
    const old = find(id)
    const isSame =
      old && toMinorUnits(old.amount, currency) === amount && (old.quantity ?? 1) === quantity
    return !old || isSame ? [] : [{ existingId: id, amount: toAmount(amount), quantity }]
  })
  const add = requestedAddOns
    .filter(({ id }) => !find(id))
    .map(({ id, amount, quantity, cycles }) => ({
      inheritedFromId: id,
      amount: toAmount(amount),
      quantity,
      ...(cycles === null ? { neverExpires: true } : { numberOfBillingCycles: cycles }),
    }))
  const remove = currentAddOns.flatMap(({ id }) =>
    requestedAddOns.some((each) => each.id === id) ? [] : [id],
  )
  const changes = {
    ...(add.length > 0 ? { add } : {}),
    ...(update.length > 0 ? { update } : {}),
    ...(remove.length > 0 ? { remove } : {}),
  }
  return Object.keys(changes).length > 0 ? { addOns: changes } : {}
}

/**
 * Returns the present add-ons that remain after an update request, and those that the request adds.
 */
export function applyAddOnChanges(
  present: readonly AddOnOrDiscount[],
  { addOns }: AddOnChanges,
): { readonly kept: AddOnOrDiscount[]; readonly added: AddOnOrDiscount[] } {
  const { add = [], update = [], remove = [] } = addOns ?? {}
  return {
    kept: present
      .filter(({ id }) => !remove.includes(id))
      .map((each) => ({ ...each, ...update.find(({ existingId }) => existingId === each.id) })),
    added: add.map((each) => ({ ...each, id: each.inheritedFromId }) as AddOnOrDiscount),
  }
}

function toRequestedAddOn(
  { price, quantity }: RequestedItem,
  terms: { readonly addOns: AddOns; readonly tax: BasisPoints; readonly currency: string },
): RequestedAddOn {
  const listed = terms.addOns.get(price)
  if (!listed) {
    throw new UnknownPrice(`Braintree has no add-on '${price}'`, {
      provider: 'braintree',
      providerCode: '92013',
    })
  }
  return { ...toTaxedAddOn(listed, terms.tax, terms.currency), quantity: quantity ?? 1 }
}

function toTaxedAddOn(each: AddOnOrDiscount, tax: BasisPoints, currency: string): RequestedAddOn {
  const wanted = toUntaxedAddOn(each, currency)
  return { ...wanted, amount: addTax(wanted.amount, tax) }
}

function toUntaxedAddOn(each: AddOnOrDiscount, currency: string): RequestedAddOn {
  return {
    id: each.id,
    amount: toMinorUnits(each.amount, currency),
    quantity: each.quantity ?? 1,
    cycles: each.neverExpires ? null : countCyclesLeft(each),
  }
}
