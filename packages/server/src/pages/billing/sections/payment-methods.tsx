import type { PaymentMethod } from '@tollgate/billing'
import type { FC } from 'hono/jsx'
import { BillingForm, usePage } from '../../parts/layout.tsx'
import { Table } from '../../parts/table.tsx'
import type { BillingAccount, ProviderView } from '../model/account.ts'
import type { CardEntry } from '../model/card-entry.ts'
import { describeCard, describeExpiry, describeMethod } from '../model/describe-card.ts'
import { CardField } from './card-entry.tsx'

export const PaymentMethods: FC<{
  account: BillingAccount
  told: ProviderView
  entry: CardEntry
}> = ({ account, told, entry }) => {
  const { t, user } = usePage()
  const { methods } = told
  const usual = describeCard(account.billable, t)
  const hasSome = usual !== null || (methods?.length ?? 0) > 0
  // The form to subscribe contains the field for the first card.
  if (!hasSome && !account.running) return null
  return (
    <section class="card" aria-labelledby="methods-title">
      <h2 id="methods-title">{t('methods.title')}</h2>
      {!hasSome && <p>{t('methods.none')}</p>}
      {methods === null && usual !== null && <p>{usual}</p>}
      {methods && methods.length > 0 && <MethodTable {...{ account, methods }} />}
      <details>
        <summary>{t('methods.add')}</summary>
        <BillingForm action="/card" data-once>
          <CardField entry={entry} id="new-card" email={user?.email} />
          {hasSome && (
            <label class="check">
              <input type="checkbox" name="later" value="yes" />
              {t('methods.later')}
            </label>
          )}
          <button type="submit">{t('methods.use')}</button>
        </BillingForm>
      </details>
    </section>
  )
}

const MethodTable: FC<{
  account: BillingAccount
  methods: readonly PaymentMethod[]
}> = ({ account, methods }) => (
  <Table
    caption={usePage().t('methods.title')}
    columns={[
      usePage().t('methods.paidWith'),
      usePage().t('tokens.expires'),
      usePage().t('table.actions'),
    ]}
    rows={methods.map((method) => [
      <>
        <strong>{describeMethod(method, usePage().t)}</strong>
        {method.isDefault && <span class="badge good">{usePage().t('methods.default')}</span>}
      </>,
      <Expiry {...{ method, account }} />,
      <Buttons method={method} isBilled={method.isDefault && account.running !== null} />,
    ])}
  />
)

const Expiry: FC<{ method: PaymentMethod; account: BillingAccount }> = ({ method, account }) => {
  const { t } = usePage()
  if (method.expires === null) return <>{t('methods.never')}</>
  const state = method.isExpiring(account.now) ? 'bad' : method.isExpiring() ? 'warning' : null
  return (
    <>
      {describeExpiry(method.expires)}{' '}
      {state && (
        <span class={`badge ${state}`}>
          {t(state === 'bad' ? 'methods.expired' : 'methods.soon')}
        </span>
      )}
    </>
  )
}

const Buttons: FC<{ method: PaymentMethod; isBilled: boolean }> = ({ method, isBilled }) => {
  const { t } = usePage()
  if (isBilled) return <>{t('methods.pays')}</>
  const name = describeMethod(method, t)
  return (
    <div class="row">
      {!method.isDefault && (
        <BillingForm action="/card/default" data-once>
          <input type="hidden" name="method" value={method.id} />
          <button type="submit" aria-label={t('methods.makeDefaultName', { name })}>
            {t('methods.makeDefault')}
          </button>
        </BillingForm>
      )}
      <a
        class="button"
        href={`${usePage().payer.path}/card/delete?method=${encodeURIComponent(method.id)}`}
        aria-label={t('methods.deleteName', { name })}
      >
        {t('dialog.delete')}
      </a>
    </div>
  )
}
