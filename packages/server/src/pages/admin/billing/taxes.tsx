import type { FC } from 'hono/jsx'
import { describeAddress } from '../../billing/sections/address-fields.tsx'
import { describeTaxIdType, TaxIdState } from '../../billing/sections/invoice-details.tsx'
import { usePage } from '../../parts/layout.tsx'
import { Fact, Table } from '../../parts/table.tsx'
import type { BillingSectionProps } from './owner-data.ts'

/** The address, the tax exemption and the tax ids of a customer. */
export const Taxes: FC<BillingSectionProps> = ({ data: { payer, customer, taxIds }, can }) => {
  const { t } = usePage()
  if (payer.provider === null || customer === null) return null
  const { path } = payer
  const { address, supports, tax_exempt: exempt } = customer
  const hasTaxIds = supports.includes('tax_ids')
  return (
    <section class="card stack" aria-labelledby="taxes-title">
      <h2 id="taxes-title">{t('people.taxes')}</h2>
      <dl class="facts">
        <Fact term={t('address.title')}>
          {address ? <bdi>{describeAddress(address)}</bdi> : t('people.address.none')}
        </Fact>
        {exempt !== null && (
          <Fact term={t('people.taxExempt.legend')}>{t(`people.taxExempt.${exempt}`)}</Fact>
        )}
      </dl>
      {hasTaxIds && taxIds === null && <p>{t('people.away')}</p>}
      {taxIds?.length === 0 && hasTaxIds && <p>{t('people.taxIds.none')}</p>}
      {taxIds !== null && taxIds.length > 0 && (
        <Table
          caption={t('taxIds.title')}
          columns={[
            t('taxIds.type'),
            t('taxIds.value'),
            t('taxIds.state'),
            ...(can('billing.removeTaxId') ? [t('table.actions')] : []),
          ]}
          rows={taxIds.map(({ id, type, value, verification }) => [
            describeTaxIdType(type, t),
            <bdi>{value}</bdi>,
            <TaxIdState state={verification} />,
            ...(can('billing.removeTaxId')
              ? [
                  <a
                    class="button small danger-quiet"
                    href={`${path}/remove-tax-id?object=${encodeURIComponent(id)}`}
                    aria-label={t('taxIds.removeOf', { value })}
                  >
                    {t('taxIds.remove')}
                  </a>,
                ]
              : []),
          ])}
        />
      )}
      <div class="row">
        {hasTaxIds && can('billing.addTaxId') && (
          <a class="button" href={`${path}/add-tax-id`}>
            {t('people.addTaxId.go')}
          </a>
        )}
        {exempt !== null && can('billing.setTaxExempt') && (
          <a class="button" href={`${path}/tax-exempt`}>
            {t('people.taxExempt.go')}
          </a>
        )}
        {supports.includes('address') && can('billing.setAddress') && (
          <a class="button" href={`${path}/address`}>
            {t('people.address.go')}
          </a>
        )}
      </div>
    </section>
  )
}
