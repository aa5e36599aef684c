import type { FC } from 'hono/jsx'
import type { PageContext } from '../../../http/variables.ts'
import { CsrfField } from '../../parts/layout.tsx'
import type { Account } from '../model/account.ts'
import { describeCard } from '../model/describe-card.ts'
import { type CardEntry, CardField } from './card-entry.tsx'

export const ChangeCard: FC<{ page: PageContext; account: Account; entry: CardEntry }> = (view) => {
  const { page, account, entry } = view
  const card = describeCard(account.billable)
  // The form to subscribe asks for the first card itself.
  if (card === null && !account.running) return null
  return (
    <section class="card" aria-labelledby="card-title">
      <h2 id="card-title">Card</h2>
      <p>{card ?? 'There is no card.'}</p>
      <details>
        <summary>Change the card</summary>
        <form method="post" action="/billing/card" data-once>
          <CsrfField page={page} />
          <CardField entry={entry} id="new-card" />
          <button type="submit">Use this card</button>
        </form>
      </details>
    </section>
  )
}
