import type { PaymentMethod } from '@tollgate/billing'
import type { FC } from 'hono/jsx'
import type { PageContext } from '../../../http/variables.ts'
import { CsrfField } from '../../parts/layout.tsx'
import { Table } from '../../parts/table.tsx'
import type { Account, ProviderView } from '../model/account.ts'
import type { CardEntry } from '../model/card-entry.ts'
import { describeCard, describeExpiry, describeMethod } from '../model/describe-card.ts'
import { CardField } from './card-entry.tsx'

export const PaymentMethods: FC<{
  page: PageContext
  account: Account
  told: ProviderView
  entry: CardEntry
}> = ({ page, account, told, entry }) => {
  const { methods } = told
  const usual = describeCard(account.billable)
  const hasSome = usual !== null || (methods?.length ?? 0) > 0
  // The form to subscribe asks for the first card itself.
  if (!hasSome && !account.running) return null
  return (
    <section class="card" aria-labelledby="methods-title">
      <h2 id="methods-title">Payment methods</h2>
      {!hasSome && <p>There is none.</p>}
      {methods === null && usual !== null && <p>{usual}</p>}
      {methods && methods.length > 0 && <MethodTable {...{ page, account, methods }} />}
      <details>
        <summary>Add a card</summary>
        <form method="post" action="/billing/card" data-once>
          <CsrfField page={page} />
          <CardField entry={entry} id="new-card" email={page.user?.email} />
          {hasSome && (
            <label class="check">
              <input type="checkbox" name="later" value="yes" />
              Only keep it: what you pay with stays the same
            </label>
          )}
          <button type="submit">Use this card</button>
        </form>
      </details>
    </section>
  )
}

const MethodTable: FC<{
  page: PageContext
  account: Account
  methods: readonly PaymentMethod[]
}> = ({ page, account, methods }) => (
  <Table
    caption="Payment methods"
    columns={['Paid with', 'Expires', 'Change']}
    rows={methods.map((method) => [
      <>
        <strong>{describeMethod(method)}</strong>
        {method.isDefault && <span class="badge good">Default</span>}
      </>,
      <Expiry {...{ method, account }} />,
      <Buttons {...{ page, method }} isBilled={method.isDefault && account.running !== null} />,
    ])}
  />
)

const Expiry: FC<{ method: PaymentMethod; account: Account }> = ({ method, account }) => {
  if (method.expires === null) return <>Never</>
  const state = method.isExpiring(account.now) ? 'bad' : method.isExpiring() ? 'warning' : null
  return (
    <>
      {describeExpiry(method.expires)}{' '}
      {state && <span class={`badge ${state}`}>{state === 'bad' ? 'Expired' : 'Soon'}</span>}
    </>
  )
}

const Buttons: FC<{ page: PageContext; method: PaymentMethod; isBilled: boolean }> = (view) => {
  const { page, method, isBilled } = view
  if (isBilled) return <>Pays your subscription</>
  const name = describeMethod(method)
  return (
    <div class="row">
      {!method.isDefault && (
        <form method="post" action="/billing/card/default" data-once>
          <CsrfField page={page} />
          <input type="hidden" name="method" value={method.id} />
          <button type="submit" aria-label={`Make default: ${name}`}>
            Make default
          </button>
        </form>
      )}
      <a
        class="button"
        href={`/billing/card/delete?method=${encodeURIComponent(method.id)}`}
        aria-label={`Delete ${name}`}
      >
        Delete
      </a>
    </div>
  )
}
