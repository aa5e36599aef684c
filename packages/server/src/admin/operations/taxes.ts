import type { Address, TaxId } from '@tollgate/billing'
import { z } from 'zod'
import { type Operation, operation } from '../operation.ts'
import { notFound } from '../problems.ts'
import { nameSchema } from './fields.ts'
import { describeOwner, owner, requireBillable, requireBillableTarget } from './owners.ts'

const taxIdShape = z.strictObject({
  id: z.string().describe("The provider's id of the tax id"),
  type: z.string().describe("The provider's name of the type, such as `eu_vat`"),
  value: z.string(),
  country: z.string().nullable().describe('ISO 3166 country code'),
  verification: z
    .enum(['pending', 'verified', 'unverified', 'unavailable'])
    .describe('Result of the check in the register of the tax office'),
})
nameSchema('TaxId', taxIdShape)

export type TaxIdJson = z.output<typeof taxIdShape>

export const TAX_EXEMPTIONS = ['none', 'exempt', 'reverse'] as const

export const taxExemptShape = z
  .enum(TAX_EXEMPTIONS)
  .describe(
    '`none`: pays tax; `exempt`: pays none; `reverse`: owes it to the tax office (reverse charge)',
  )

const part = (description: string) => z.string().trim().max(255).optional().describe(description)

/** The parts of an address. Empty parts are left out. */
const addressFields = {
  line1: part('Street and number'),
  line2: part('Further line, such as an apartment or a company'),
  city: part('City'),
  state: part('State, county or province'),
  postal_code: part('Postal code'),
  country: z
    .string()
    .regex(/^([A-Z]{2})?$/, 'Expected a country code of two capital letters, such as DE.')
    .optional()
    .describe('ISO 3166 country code'),
}

export const addressShape = z.strictObject(addressFields)
nameSchema('Address', addressShape)

export type AddressJson = z.output<typeof addressShape>

/** Converts an address for responses. `null` if there is none. */
export function toAddressJson(address: Address | null): AddressJson | null {
  if (address === null) return null
  const { postalCode, ...rest } = address
  return { ...rest, ...(postalCode === undefined ? {} : { postal_code: postalCode }) }
}

/** Converts an address for the billing library, without its empty parts. */
export function toAddress({ postal_code: postalCode, ...rest }: AddressJson): Address {
  const parts = Object.entries({ ...rest, postalCode })
  return Object.fromEntries(parts.filter(([, value]) => value))
}

const taxIdJson = ({ id, type, value, country, verification }: TaxId): TaxIdJson => {
  return { id, type, value, country, verification }
}

/** The fields of a new tax id. */
export const newTaxId = {
  type: z
    .string()
    .regex(/^[a-z]{2}_[a-z0-9_]{1,30}$/, 'Expected the type of a tax id, such as eu_vat.'),
  value: z.string().trim().min(1).max(100),
}

/** Operations on what decides the tax of an owner: tax ids, exemption and address. */
export const taxOperations: readonly Operation[] = [
  operation({
    name: 'billing.listTaxIds',
    summary: 'List the tax ids of a person or team, oldest first',
    description: 'Empty at a provider that stores no tax ids.',
    route: ['GET', '/users/{owner}/tax-ids'],
    role: 'viewer',
    effect: 'read',
    input: z.strictObject({ owner }),
    output: z.strictObject({ data: z.array(taxIdShape) }),
    async run({ owner }, context) {
      const user = await requireBillable(owner, context)
      const found = user.can('taxIds') ? await user.taxIds() : []
      return { data: found.map(taxIdJson) }
    },
  }),
  operation({
    name: 'billing.addTaxId',
    summary: 'Add a tax id to a person or team, which is printed on invoices',
    description:
      'Adding a tax id twice returns the first one. The result of the check by the tax office appears in `verification` later. Fails with `conflict` at a provider that stores no tax ids.',
    route: ['POST', '/users/{owner}/tax-ids'],
    role: 'support',
    effect: 'change',
    commits: 'in-steps',
    input: z.strictObject({ owner, ...newTaxId }),
    output: taxIdShape,
    describe: ({ owner, type, value }, result) => ({
      subject: describeOwner(owner),
      details: { type, ...(result && { tax_id: result.id }) },
      personal: { value },
    }),
    async run({ owner, type, value }, context) {
      const user = await requireBillableTarget(owner, context)
      return taxIdJson(await user.createTaxId(type, value))
    },
  }),
  operation({
    name: 'billing.removeTaxId',
    summary: 'Remove a tax id of a person or team',
    description: 'Invoices that exist already keep it.',
    route: ['DELETE', '/users/{owner}/tax-ids/{tax_id}'],
    role: 'support',
    effect: 'change',
    commits: 'in-steps',
    status: 204,
    input: z.strictObject({
      owner,
      tax_id: z
        .string()
        .regex(/^\w{1,100}$/, 'Expected the id of a tax id at its provider.')
        .describe("The provider's id of the tax id"),
    }),
    output: z.null(),
    describe: ({ owner, tax_id }) => ({ subject: describeOwner(owner), details: { tax_id } }),
    async run({ owner, tax_id: taxId }, context) {
      const user = await requireBillableTarget(owner, context)
      if ((await user.findTaxId(taxId)) === null) throw notFound('tax id', taxId)
      await user.deleteTaxId(taxId)
      return null
    },
  }),
  operation({
    name: 'billing.setTaxExempt',
    summary: 'Set whether a person or team pays tax on future invoices',
    description: 'Fails with `conflict` at a provider that has no tax exemptions.',
    route: ['PUT', '/users/{owner}/tax-exempt'],
    role: 'support',
    effect: 'change',
    commits: 'in-steps',
    input: z.strictObject({ owner, tax_exempt: taxExemptShape }),
    output: z.strictObject({ tax_exempt: taxExemptShape }),
    describe: ({ owner, tax_exempt }) => ({
      subject: describeOwner(owner),
      details: { tax_exempt },
    }),
    async run({ owner, tax_exempt }, context) {
      const user = await requireBillableTarget(owner, context)
      await user.setTaxExempt(tax_exempt)
      return { tax_exempt }
    },
  }),
  operation({
    name: 'billing.setAddress',
    summary:
      'Set the address on the invoices of a person or team, which can also determine the tax',
    description:
      'Replaces the whole address: parts that are left out are removed. Fails with `conflict` if the person or team is not a customer yet.',
    route: ['PUT', '/users/{owner}/address'],
    role: 'support',
    effect: 'change',
    commits: 'in-steps',
    input: z.strictObject({ owner, ...addressFields }),
    output: addressShape,
    describe: ({ owner, ...address }) => ({
      subject: describeOwner(owner),
      personal: { address: Object.values(toAddress(address)).join(', ') },
    }),
    async run({ owner, ...address }, context) {
      const user = await requireBillableTarget(owner, context)
      await user.updateCustomer({ address: toAddress(address) })
      return toAddressJson(await user.billingAddress()) ?? {}
    },
  }),
]
