import type { ProviderName } from '@tollgate/billing'
import type { FC } from 'hono/jsx'
import { PROVIDER_NAMES } from '../model/providers.ts'

interface TypedCardView {
  readonly provider: ProviderName
  /** Stripe's publishable key, where the script needs it. */
  readonly cardKey: string | null
  readonly id: string
}

/**
 * In a demo, beside the list of test cards: a card is typed in as it is in production, only that the
 * sandbox's stand-in for the provider's script takes it. Shown by our own script, since it needs one.
 */
export const TypedCard: FC<TypedCardView> = ({ provider, cardKey, id }) => (
  <details class="card-entry" data-card-entry={provider} data-key={cardKey ?? undefined} hidden>
    <summary>Type a card in instead</summary>
    <p>
      As with {PROVIDER_NAMES[provider]}’s own script. Its test numbers work, such as{' '}
      {TEST_NUMBERS[provider]}.
    </p>
    <div id={`${id}-mount`} data-mount />
    <p class="problem" data-problem role="alert" />
    <input type="hidden" name="token" value="" disabled />
  </details>
)

const TEST_NUMBERS = { stripe: '4242 4242 4242 4242', braintree: '4111 1111 1111 1111' }
