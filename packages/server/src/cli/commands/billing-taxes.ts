import { type AddressJson, TAX_EXEMPTIONS, type TaxIdJson } from '../../admin/operations/taxes.ts'
import { type Commands, command } from '../command.ts'
import * as option from '../options.ts'
import { OWNER_OPTION, USER_ARGUMENT } from '../owner.ts'
import { withOwner } from '../subscription.ts'
import { formatTable } from '../table.ts'
import { UsageError } from '../usage-error.ts'

/** Commands about what decides the tax of an owner. */
export const taxCommands: Commands = {
  'billing tax-ids list': command({
    summary: 'list the tax ids of a person or another owner, oldest first',
    withConfig: true,
    arguments: [USER_ARGUMENT],
    options: { owner: OWNER_OPTION },
    run: ({ args: [user = ''], options }, context) =>
      withOwner({ user, ...options }, context, async ({ owner }, { perform }) => {
        const { data } = await perform<{ data: readonly TaxIdJson[] }>('billing.listTaxIds', {
          owner,
        })
        const headers = ['ID', 'TYPE', 'VALUE', 'COUNTRY', 'VERIFICATION']
        const rows = data.map((each) => [
          each.id,
          each.type,
          each.value,
          each.country ?? '',
          each.verification,
        ])
        return { json: data, text: formatTable(headers, rows, 'There are no tax ids') }
      }),
  }),
  'billing tax-ids add': command({
    summary: 'add a tax id to a person or another owner',
    withConfig: true,
    arguments: [
      USER_ARGUMENT,
      { name: 'type', description: "the provider's name of the type, such as eu_vat" },
      { name: 'value', description: 'the number' },
    ],
    options: { owner: OWNER_OPTION },
    run: ({ args: [user = '', ...args], options }, context) =>
      withOwner({ user, ...options }, context, async ({ owner, label }, { perform }) => {
        const input = { owner, type: args[0], value: args[1] }
        const added = await perform<TaxIdJson>('billing.addTaxId', input)
        const text = `Added the tax id ${added.id} to ${label}. Verification: ${added.verification}.`
        return { json: added, text }
      }),
  }),
  'billing tax-ids remove': command({
    summary: 'remove a tax id of a person or another owner',
    withConfig: true,
    arguments: [USER_ARGUMENT, { name: 'tax-id', description: 'its id in the list' }],
    options: { owner: OWNER_OPTION },
    run: ({ args: [user = '', ...args], options }, context) =>
      withOwner({ user, ...options }, context, async ({ owner, label }, { perform }) => {
        const taxId = args[0]
        await perform('billing.removeTaxId', { owner, tax_id: taxId })
        const text = `Removed the tax id ${taxId} of ${label}.`
        return { json: { id: taxId, removed: true }, text }
      }),
  }),
  'billing tax-exempt': command({
    summary: 'set whether a person or another owner pays tax on future invoices',
    withConfig: true,
    arguments: [USER_ARGUMENT, { name: 'status', description: TAX_EXEMPTIONS.join(', ') }],
    options: { owner: OWNER_OPTION },
    run: ({ args: [user = '', ...args], options }, context) =>
      withOwner({ user, ...options }, context, async ({ owner, label }, { perform }) => {
        const set = await perform<{ tax_exempt: string }>('billing.setTaxExempt', {
          owner,
          tax_exempt: args[0],
        })
        const text = `The tax status of ${label} is now ${set.tax_exempt}.`
        return { json: set, text }
      }),
  }),
  'billing address': command({
    summary: 'set the whole address on the invoices of a person or another owner',
    withConfig: true,
    arguments: [USER_ARGUMENT],
    options: {
      line1: option.text('<text>', 'street and number'),
      line2: option.text('<text>', 'further line'),
      postalCode: option.text('<text>', 'postal code'),
      city: option.text('<text>', 'city'),
      state: option.text('<text>', 'state, county or province'),
      country: option.text('<code>', 'country code of two capital letters'),
      none: option.flag('remove the address'),
      owner: OWNER_OPTION,
    },
    run: ({ args: [user = ''], options }, context) => {
      const { postalCode, none, owner: chosen, ...others } = options
      const parts = Object.entries({ ...others, postal_code: postalCode })
      const address = Object.fromEntries(parts.filter(([, value]) => value !== null))
      if (none !== (Object.keys(address).length === 0)) {
        throw new UsageError('Give the parts of the address, or --none to remove it')
      }
      return withOwner({ user, owner: chosen }, context, async ({ owner, label }, { perform }) => {
        const set = await perform<AddressJson>('billing.setAddress', { owner, ...address })
        const text = none
          ? `Removed the billing address of ${label}.`
          : `Changed the billing address of ${label}.`
        return { json: set, text }
      })
    },
  }),
}
