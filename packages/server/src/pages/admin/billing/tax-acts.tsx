import type { FC } from 'hono/jsx'
import { type AddressJson, TAX_EXEMPTIONS } from '../../../admin/operations/taxes.ts'
import { AddressFields, readAddress } from '../../billing/sections/address-fields.tsx'
import { Choice, TextField } from '../../parts/fields.tsx'
import { usePage } from '../../parts/layout.tsx'
import type { BillingAction } from './action.tsx'
import { type CustomerJson, readCustomer } from './owner-data.ts'

/** The acts on the taxes of a person or team, by the last part of the URL path. */
export const TAX_ACTIONS: Readonly<Record<string, BillingAction>> = {
  'add-tax-id': {
    operation: 'billing.addTaxId',
    done: 'tax-id-added',
    texts: 'people.addTaxId',
    isHarmless: true,
    input: (form) => ({ type: form.get('type') ?? '', value: form.get('value') ?? '' }),
    decisions: ({ form }) => <TaxIdFields form={form} />,
  },
  'remove-tax-id': {
    operation: 'billing.removeTaxId',
    done: 'tax-id-removed',
    texts: 'people.removeTaxId',
    input: (_form, taxId) => ({ tax_id: taxId }),
  },
  'tax-exempt': {
    operation: 'billing.setTaxExempt',
    done: 'tax-exempt-set',
    texts: 'people.taxExempt',
    isHarmless: true,
    input: (form) => ({ tax_exempt: form.get('tax_exempt') ?? '' }),
    async decisions({ c, payer }) {
      const { tax_exempt: present } = await readCustomer(c, payer.owner)
      return <Exemptions present={present} />
    },
  },
  address: {
    operation: 'billing.setAddress',
    done: 'address-set',
    texts: 'people.address',
    isHarmless: true,
    input: (form) => ({ ...readAddress(form) }),
    async decisions({ c, payer, form }) {
      const present: AddressJson | null = form
        ? readAddress(form)
        : (await readCustomer(c, payer.owner)).address
      return <AddressFields address={present} />
    },
  },
}

const TaxIdFields: FC<{ form: URLSearchParams | null }> = ({ form }) => {
  const { t } = usePage()
  return (
    <>
      <TextField
        id="type"
        label={t('people.taxId.type')}
        hint={t('people.taxId.type.hint')}
        input={{
          name: 'type',
          required: true,
          maxlength: 40,
          autocomplete: 'off',
          value: form?.get('type') ?? 'eu_vat',
        }}
      />
      <TextField
        id="value"
        label={t('taxIds.value')}
        input={{
          name: 'value',
          required: true,
          maxlength: 100,
          autocomplete: 'off',
          value: form?.get('value') ?? '',
        }}
      />
    </>
  )
}

const Exemptions: FC<{ present: CustomerJson['tax_exempt'] }> = ({ present }) => {
  const { t } = usePage()
  return (
    <fieldset>
      <legend>{t('people.taxExempt.legend')}</legend>
      {TAX_EXEMPTIONS.map((name) => (
        <Choice
          id={`tax-exempt-${name}`}
          type="radio"
          name="tax_exempt"
          value={name}
          title={t(`people.taxExempt.${name}`)}
          checked={name === present}
        />
      ))}
    </fieldset>
  )
}
