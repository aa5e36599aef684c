import { defineCapability, defineFeature, pickGatewayPart } from '../define-feature.ts'
import type { TaxExemption } from './contract.ts'
import { createStripeTaxes } from './stripe.ts'
import { createStripeTaxExemptions, createStripeTaxIds } from './stripe-tax-ids.ts'
import { syncTaxPercentage } from './subscription.ts'
import {
  createTaxId,
  deleteTaxId,
  findTaxId,
  listTaxIds,
  readTaxExempt,
  setTaxExempt,
  type TaxId,
} from './user.ts'

declare module '../../billable-user.ts' {
  interface BillableUser<User> {
    /**
     * Returns the tax percentage of this user, from 0 to 100, according to the option
     * `taxPercentage`.
     */
    taxPercentage(): Promise<number>

    /** Lists the customer's tax ids, oldest first. They are printed on invoices. */
    taxIds(): Promise<TaxId[]>

    /**
     * Finds one of the customer's own tax ids. `null` if there is none, or if it belongs to another
     * customer.
     */
    findTaxId(id: string): Promise<TaxId | null>

    /**
     * Adds a tax id, such as `eu_vat` and `DE123456789`, or returns the existing one. Creates a
     * customer if there is none, so that the first invoice has the right tax. The tax office's
     * result appears in `verification` later.
     * @throws {InvalidTaxId} if type or value cannot be valid.
     * @example
     * ```ts
     * await user.createTaxId('eu_vat', 'DE123456789')
     * ```
     */
    createTaxId(type: string, value: string): Promise<TaxId>

    /** Deletes a tax id. Does nothing if it does not exist. */
    deleteTaxId(id: string): Promise<void>

    /**
     * Returns whether the customer pays tax: normally (`none`), not at all (`exempt`), or directly
     * to the tax office (`reverse`).
     */
    taxExempt(): Promise<TaxExemption>

    /**
     * Sets whether the customer pays tax on future invoices. Creates a customer if there is none.
     */
    setTaxExempt(exemption: TaxExemption): Promise<void>

    /**
     * Whether the customer owes the tax directly to the tax office, because of
     * `setTaxExempt('reverse')`.
     */
    reverseChargeApplies(): Promise<boolean>
  }
}

declare module '../../subscription.ts' {
  interface Subscription {
    /**
     * Applies the tax of the options to the subscription from the next invoice on. If the options
     * say nothing about tax, the subscription keeps its tax.
     */
    syncTaxPercentage(): Promise<Subscription>
  }
}

declare module '../../core/storage/tables.ts' {
  interface OperationKinds {
    tax_id: true
  }
}

/** Taxing subscriptions by a percentage that the application configures. */
export const taxesFeature = defineFeature({
  user: {
    taxPercentage: async (user) => (await user.readTaxPercentage()) / 100,
  },
  changes: {
    syncTaxPercentage,
  },
  stripe: (context) => pickGatewayPart(createStripeTaxes(context), 'setTax'),
})

/** Taxes that the provider calculates from the customer's address. */
export const automaticTaxCapability = defineCapability('automaticTax', {
  builder: ['withTax'],
  stripe: (context) => pickGatewayPart(createStripeTaxes(context), 'automaticTax'),
})

/** Taxing each price of a subscription with the provider's tax rates. */
export const lineRatesCapability = defineCapability('lineRates', {
  stripe: (context) => pickGatewayPart(createStripeTaxes(context), 'lineRates'),
})

/** Tax ids of customers, such as VAT numbers. */
export const taxIdsCapability = defineCapability('taxIds', {
  user: {
    taxIds: listTaxIds,
    findTaxId,
    createTaxId,
    deleteTaxId,
  },
  operations: { tax_id: null },
  stripe: createStripeTaxIds,
})

/** Exempting customers from taxes. */
export const taxExemptionsCapability = defineCapability('taxExemptions', {
  user: {
    taxExempt: readTaxExempt,
    setTaxExempt,
    reverseChargeApplies: async (user) => (await readTaxExempt(user)) === 'reverse',
  },
  stripe: createStripeTaxExemptions,
})
