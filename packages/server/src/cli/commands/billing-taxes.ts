import { type AddressJson, TAX_EXEMPTIONS, type TaxIdJson } from '../../admin/operations/taxes.ts'
import { type Commands, command } from '../command.ts'
import * as option from '../options.ts'
import { formatTable } from '../table.ts'
import { UsageError } from '../usage-error.ts'
import { ACCOUNT, withAccount } from './user.ts'

/** Commands about what decides the tax of a person. */
export const taxCommands: Commands = {
  'billing tax-ids list': command({
    summary: 'list the tax ids of a person, oldest first',
    arguments: [ACCOUNT],
    run: ({ args }, context) =>
      withAccount(args, context, async ({ id }, { perform }) => {
        const { data } = await perform<{ data: readonly TaxIdJson[] }>('billing.listTaxIds', { id })
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
    summary: 'add a tax id to a person',
    arguments: [
      ACCOUNT,
      { name: 'type', description: "the provider's name of the type, such as eu_vat" },
      { name: 'value', description: 'the number' },
    ],
    run: ({ args }, context) =>
      withAccount(args, context, async ({ id, email }, { perform }) => {
        const input = { id, type: args[1], value: args[2] }
        const added = await perform<TaxIdJson>('billing.addTaxId', input)
        const text = `Added the tax id ${added.id} to ${email} (${id}). Verification: ${added.verification}.`
        return { json: added, text }
      }),
  }),
  'billing tax-ids remove': command({
    summary: 'remove a tax id of a person',
    arguments: [ACCOUNT, { name: 'tax-id', description: 'its id in the list' }],
    run: ({ args }, context) =>
      withAccount(args, context, async ({ id, email }, { perform }) => {
        const taxId = args[1]
        await perform('billing.removeTaxId', { id, tax_id: taxId })
        const text = `Removed the tax id ${taxId} of ${email} (${id}).`
        return { json: { id: taxId, removed: true }, text }
      }),
  }),
  'billing tax-exempt': command({
    summary: 'set whether a person pays tax on future invoices',
    arguments: [ACCOUNT, { name: 'status', description: TAX_EXEMPTIONS.join(', ') }],
    run: ({ args }, context) =>
      withAccount(args, context, async ({ id, email }, { perform }) => {
        const set = await perform<{ tax_exempt: string }>('billing.setTaxExempt', {
          id,
          tax_exempt: args[1],
        })
        const text = `The tax status of ${email} (${id}) is now ${set.tax_exempt}.`
        return { json: set, text }
      }),
  }),
  'billing address': command({
    summary: 'set the whole address on the invoices of a person',
    arguments: [ACCOUNT],
    options: {
      line1: option.text('<text>', 'street and number'),
      line2: option.text('<text>', 'further line'),
      postalCode: option.text('<text>', 'postal code'),
      city: option.text('<text>', 'city'),
      state: option.text('<text>', 'state, county or province'),
      country: option.text('<code>', 'country code of two capital letters'),
      none: option.flag('remove the address'),
    },
    run: ({ args, options: { postalCode, none, ...others } }, context) => {
      const parts = Object.entries({ ...others, postal_code: postalCode })
      const address = Object.fromEntries(parts.filter(([, value]) => value !== null))
      if (none !== (Object.keys(address).length === 0)) {
        throw new UsageError('Give the parts of the address, or --none to remove it')
      }
      return withAccount(args, context, async ({ id, email }, { perform }) => {
        const set = await perform<AddressJson>('billing.setAddress', { id, ...address })
        const text = none
          ? `Removed the billing address of ${email} (${id}).`
          : `Changed the billing address of ${email} (${id}).`
        return { json: set, text }
      })
    },
  }),
}
