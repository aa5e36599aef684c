import type { FC } from 'hono/jsx'
import type { AddressJson } from '../../../admin/operations/taxes.ts'
import { TextField } from '../../parts/fields.tsx'
import { usePage } from '../../parts/layout.tsx'

/** The fields of an address, each with the browser's word for it. */
const FIELDS = [
  ['line1', 'address-line1'],
  ['line2', 'address-line2'],
  ['postal_code', 'postal-code'],
  ['city', 'address-level2'],
  ['state', 'address-level1'],
  ['country', 'country'],
] as const

/** The fields of a billing address. */
export const AddressFields: FC<{ address: AddressJson | null }> = ({ address }) => {
  const { t } = usePage()
  return (
    <>
      {FIELDS.map(([name, autocomplete]) => (
        <TextField
          id={`address-${name}`}
          label={t(`address.${name}`)}
          hint={name === 'country' ? t('address.country.hint') : undefined}
          input={{
            name,
            maxlength: name === 'country' ? 2 : 255,
            autocomplete,
            value: address?.[name] ?? '',
          }}
        />
      ))}
    </>
  )
}

/** Reads the fields of an address, with the country in capitals. */
export function readAddress(form: URLSearchParams): AddressJson {
  const parts = FIELDS.map(([name]) => [name, (form.get(name) ?? '').trim()] as const)
  return Object.fromEntries(
    parts
      .filter(([, value]) => value !== '')
      .map(([name, value]) => [name, name === 'country' ? value.toUpperCase() : value]),
  )
}

/** An address in one line. */
export function describeAddress(address: AddressJson): string {
  return FIELDS.flatMap(([name]) => address[name] ?? []).join(', ')
}
