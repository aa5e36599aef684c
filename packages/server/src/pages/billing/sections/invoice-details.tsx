import type { TaxId } from '@tollgate/billing'
import type { FC } from 'hono/jsx'
import { type AddressJson, addressJson } from '../../../admin/operations/taxes.ts'
import type { PageText } from '../../../messages/messages.ts'
import { TextField } from '../../parts/fields.tsx'
import { BillingForm, usePage } from '../../parts/layout.tsx'
import { Table } from '../../parts/table.tsx'
import type { BillingAccount, ProviderView } from '../model/account.ts'
import { TAX_ID_TYPES } from '../model/tax-ids.ts'
import { AddressFields, describeAddress } from './address-fields.tsx'

interface InvoiceDetailsView {
  readonly account: BillingAccount
  readonly told: Pick<ProviderView, 'taxIds' | 'address'>
  /** The form that was refused. `null` if the page is not shown because of a refused form. */
  readonly form: URLSearchParams | null
}

/** The address and the tax ids on the invoices of the signed-in person. */
export const InvoiceDetails: FC<InvoiceDetailsView> = ({ account, told, form }) => {
  const { t } = usePage()
  const { billable, isCustomer } = account
  if (!isCustomer || !billable.can('customerDetails')) return null
  const address: AddressJson | null = told.address && addressJson(told.address.present)
  return (
    <section class="card stack" aria-labelledby="details-title">
      <h2 id="details-title">{t('details.title')}</h2>
      {told.address === null ? (
        <p>{t('invoices.away')}</p>
      ) : (
        <>
          {address && (
            <p>
              <bdi>{describeAddress(address)}</bdi>
            </p>
          )}
          <details>
            <summary>{t(address ? 'address.change' : 'address.add')}</summary>
            <BillingForm action="/address" class="stack" data-once>
              <AddressFields address={address} />
              <button type="submit">{t('address.save')}</button>
            </BillingForm>
          </details>
        </>
      )}
      {billable.can('taxIds') && told.taxIds !== null && (
        <TaxIds taxIds={told.taxIds} value={form?.get('tax_id') ?? ''} />
      )}
    </section>
  )
}

const TaxIds: FC<{ taxIds: readonly TaxId[]; value: string }> = ({ taxIds, value: typed }) => {
  const { t } = usePage()
  return (
    <>
      {taxIds.length > 0 && (
        <Table
          caption={t('taxIds.title')}
          columns={[t('taxIds.type'), t('taxIds.value'), t('taxIds.state'), t('table.actions')]}
          rows={taxIds.map(({ id, type, value, verification }) => [
            describeTaxIdType(type, t),
            <bdi>{value}</bdi>,
            <TaxIdState state={verification} />,
            <BillingForm action="/tax-id/delete" data-once>
              <input type="hidden" name="id" value={id} />
              <button type="submit" aria-label={t('taxIds.removeOf', { value })}>
                {t('taxIds.remove')}
              </button>
            </BillingForm>,
          ])}
        />
      )}
      <details open={typed !== ''}>
        <summary>{t('taxIds.add')}</summary>
        <BillingForm action="/tax-id" class="stack" data-once>
          <div class="field">
            <label for="tax-id-type">{t('taxIds.type')}</label>
            <select id="tax-id-type" name="type">
              {TAX_ID_TYPES.map((type) => (
                <option value={type}>{describeTaxIdType(type, t)}</option>
              ))}
            </select>
          </div>
          <TextField
            id="tax-id"
            label={t('taxIds.value')}
            input={{
              name: 'tax_id',
              required: true,
              maxlength: 100,
              autocomplete: 'off',
              value: typed,
            }}
          />
          <button type="submit">{t('taxIds.add')}</button>
        </BillingForm>
      </details>
    </>
  )
}

/** The name of a type of tax id, or the provider's name if the pages do not offer it. */
export function describeTaxIdType(type: string, t: PageText): string {
  const known = TAX_ID_TYPES.find((each) => each === type)
  return known ? t(`taxIds.${known}`) : type
}

const TONES = { verified: 'good', pending: '', unverified: 'bad', unavailable: '' } as const

/** A badge with the result of the tax office's check. */
export const TaxIdState: FC<{ state: TaxId['verification'] }> = ({ state }) => (
  <span class={`badge ${TONES[state]}`}>{usePage().t(`taxIds.state.${state}`)}</span>
)
