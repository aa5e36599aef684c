import type { FC } from 'hono/jsx'
import { assetUrl } from '../../parts/assets.ts'
import type { CardEntry } from '../model/card-entry.ts'
import { PROVIDER_NAMES } from '../model/providers.ts'
import { TEST_CARDS } from '../model/test-cards.ts'

/** Once on a page, before our own script. Only ever loaded from the provider itself, or its sandbox. */
export const ProviderScripts: FC<{ entry: CardEntry }> = ({ entry }) => (
  <>
    {entry.scripts.map((address) => (
      <script src={address} nonce={entry.nonce ?? undefined} defer />
    ))}
    {entry.provider === 'braintree' && <script type="module" src={assetUrl('braintree-card.js')} />}
  </>
)

interface CardFieldView {
  readonly entry: CardEntry
  readonly id: string
  readonly chosen?: string | null
  /** The person's address, which the card's bank is told so that it has to ask less often. */
  readonly email: string | undefined
}

/** The field of a form; it ends in a value named `token`. */
export const CardField: FC<CardFieldView> = (view) => {
  const { entry, chosen } = view
  if (entry.kind === 'test') {
    return (
      <>
        <label>
          Test card
          <select name="token" required>
            {TEST_CARDS[entry.provider].map((card) => (
              <option value={card.token} selected={card.token === chosen}>
                {card.label}
              </option>
            ))}
          </select>
        </label>
        <TypedCard {...view} />
      </>
    )
  }
  const name = PROVIDER_NAMES[entry.provider]
  if (entry.kind === 'missing') {
    return (
      <p class="problem">
        Cards cannot be entered here yet: whoever runs this service has to set
        STRIPE_PUBLISHABLE_KEY.
      </p>
    )
  }
  return (
    <div class="card-entry" {...entryData(view)}>
      <p>Card, sent to {name} and not to us</p>
      <CardInputs {...view} />
      <input type="hidden" name="token" value="" />
      <noscript>
        <p class="problem">Cards are taken by {name}’s own script. Please switch scripts on.</p>
      </noscript>
    </div>
  )
}

/**
 * In a demo, beside the list of test cards: a card is typed in as it is in production, only that the
 * sandbox's stand-in for the provider's script takes it. Shown by our own script, since it needs one.
 */
const TypedCard: FC<CardFieldView> = (view) => {
  const { provider } = view.entry
  return (
    <details class="card-entry" {...entryData(view)} hidden>
      <summary>
        {provider === 'braintree' ? 'Type a card in, or use PayPal' : 'Type a card in instead'}
      </summary>
      <p>
        As with {PROVIDER_NAMES[provider]}’s own script. Its test numbers work, such as{' '}
        {TEST_NUMBERS[provider]}.
      </p>
      <CardInputs {...view} />
      <input type="hidden" name="token" value="" disabled />
    </details>
  )
}

const TEST_NUMBERS = {
  stripe: '4242 4242 4242 4242',
  braintree: '4111 1111 1111 1111, or 4000 0000 0000 2503 whose bank asks (3-D Secure)',
}

/** Attributes that the page's script reads. */
function entryData({ entry, email }: CardFieldView) {
  return {
    'data-card-entry': entry.provider,
    'data-key': entry.key ?? undefined,
    'data-email': entry.provider === 'braintree' ? email : undefined,
  }
}

/** Places for the provider's fields and for our messages. */
const CardInputs: FC<CardFieldView> = ({ entry, id }) => (
  <>
    {entry.provider === 'stripe' ? (
      <div id={`${id}-mount`} data-mount />
    ) : (
      <div class="hosted-fields" data-fields hidden>
        {HOSTED_FIELDS.map(([field, label, isOptional]) => (
          <div data-row={field} hidden={isOptional}>
            <label for={`${id}-${field}`}>{label}</label>
            <div id={`${id}-${field}`} class="hosted-field" data-field={field} />
          </div>
        ))}
      </div>
    )}
    <p data-loading hidden>
      The card form is loading…
    </p>
    <p class="problem" data-problem role="alert" />
    {entry.provider === 'braintree' && (
      <div class="paypal" data-paypal hidden>
        <p>Or pay with PayPal</p>
        <div data-paypal-button />
      </div>
    )}
  </>
)

/** Braintree's fields; the last one only where the merchant's rules check it. */
const HOSTED_FIELDS = [
  ['number', 'Card number', false],
  ['expirationDate', 'Expiry date (MM/YY)', false],
  ['cvv', 'Security code', false],
  ['postalCode', 'Postal code', true],
] as const
