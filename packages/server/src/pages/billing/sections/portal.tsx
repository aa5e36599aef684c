import type { ProviderName } from '@tollgate/billing'
import type { FC } from 'hono/jsx'
import type { PageContext } from '../../../http/variables.ts'
import { CsrfField } from '../../parts/layout.tsx'
import { PROVIDER_NAMES } from '../model/providers.ts'

/** The way to the provider's own pages. The link is made when it is clicked. */
export const Portal: FC<{ page: PageContext; provider: ProviderName }> = ({ page, provider }) => (
  <section class="card" aria-labelledby="portal-title">
    <h2 id="portal-title">At {PROVIDER_NAMES[provider]}</h2>
    <p>Cards, invoices and the subscription can be looked after there, too.</p>
    <form method="post" action="/billing/portal">
      <CsrfField page={page} />
      <button type="submit">Open {PROVIDER_NAMES[provider]}’s pages</button>
    </form>
  </section>
)
