import type { FC } from 'hono/jsx'
import { assetUrl } from '../../parts/assets.ts'
import { usePage } from '../../parts/layout.tsx'
import { cardScriptTexts } from '../../parts/script-texts.ts'
import type { CardEntry } from '../model/card-entry.ts'
import { PROVIDER_NAMES } from '../model/providers.ts'
import { TEST_CARDS } from '../model/test-cards.ts'

/**
 * Renders the `<script>` elements of the payment provider. Include them once per page, before the
 * script of the service.
 */
export const ProviderScripts: FC<{ entry: CardEntry }> = ({ entry }) => (
  <>
    {entry.scripts.map((address) => (
      <script src={address} nonce={entry.nonce ?? undefined} defer />
    ))}
    {entry.provider === 'braintree' && (
      <script
        type="module"
        src={assetUrl('braintree-card.js')}
        data-card-texts={cardScriptTexts(usePage().t)}
      />
    )}
  </>
)

interface CardFieldView {
  readonly entry: CardEntry
  readonly id: string
  readonly chosen?: string | null
  /**
   * The person's e-mail address, which the card's bank gets so that it asks for confirmation less
   * often.
   */
  readonly email: string | undefined
}

/** Renders the card field of a form. The form sends the card as the value `token`. */
export const CardField: FC<CardFieldView> = (view) => {
  const { entry, chosen } = view
  const { t } = usePage()
  if (entry.kind === 'test') {
    return (
      <>
        <label>
          {t('testCard.label')}
          <select name="token" required>
            {TEST_CARDS[entry.provider].map((card) => (
              <option value={card.token} selected={card.token === chosen}>
                {t(card.label, { card: card.card })}
              </option>
            ))}
          </select>
        </label>
        <TypedCard {...view} />
      </>
    )
  }
  const provider = PROVIDER_NAMES[entry.provider]
  if (entry.kind === 'missing') {
    return <p class="problem">{t('field.missing', { variable: 'STRIPE_PUBLISHABLE_KEY' })}</p>
  }
  return (
    <div class="card-entry" {...entryData(view)}>
      <p>{t('field.sentTo', { provider })}</p>
      <CardInputs {...view} />
      <input type="hidden" name="token" value="" />
      <noscript>
        <p class="problem">{t('field.script', { provider })}</p>
      </noscript>
    </div>
  )
}

/**
 * In a demo, an alternative to the list of test cards: the same fields as in production, served by
 * the sandbox. Shown by our own script, because it needs one.
 */
const TypedCard: FC<CardFieldView> = (view) => {
  const { provider } = view.entry
  const { t } = usePage()
  return (
    <details class="card-entry" {...entryData(view)} hidden>
      <summary>{t(`testCard.enter.${provider}`)}</summary>
      <p>{t(`testCard.numbers.${provider}`)}</p>
      <CardInputs {...view} />
      <input type="hidden" name="token" value="" disabled />
    </details>
  )
}

/** Attributes that the page's script reads. */
function entryData({ entry, email }: CardFieldView) {
  return {
    'data-card-entry': entry.provider,
    'data-key': entry.key ?? undefined,
    'data-email': entry.provider === 'braintree' ? email : undefined,
  }
}

/** Containers for the provider's fields and for messages. */
const CardInputs: FC<CardFieldView> = ({ entry, id }) => (
  <>
    {entry.provider === 'stripe' ? (
      <div id={`${id}-mount`} data-mount />
    ) : (
      <div class="hosted-fields" data-fields hidden>
        {HOSTED_FIELDS.map(([field, isOptional]) => (
          <div data-row={field} hidden={isOptional}>
            <label for={`${id}-${field}`}>{usePage().t(`field.${field}`)}</label>
            <div id={`${id}-${field}`} class="hosted-field" data-field={field} />
          </div>
        ))}
      </div>
    )}
    <p data-loading hidden>
      {usePage().t('field.loading')}
    </p>
    <p class="problem" data-problem role="alert" />
    {entry.provider === 'braintree' && (
      <div class="paypal" data-paypal hidden>
        <p>{usePage().t('field.paypal')}</p>
        <div data-paypal-button />
      </div>
    )}
  </>
)

/** Braintree's fields. The postal code is shown only if the merchant's rules check it. */
const HOSTED_FIELDS = [
  ['number', false],
  ['expirationDate', false],
  ['cvv', false],
  ['postalCode', true],
] as const

/**
 * Renders the element in which the provider's script, or the sandbox's, lets the bank ask for
 * confirmation.
 */
export const AskBank: FC<{ entry: CardEntry; clientSecret: string | null }> = (view) => {
  const { entry, clientSecret } = view
  if (entry.provider !== 'stripe' || entry.scripts.length === 0 || clientSecret === null)
    return null
  const isDemo = entry.kind === 'test'
  return (
    <div
      class="stack"
      data-confirm-payment
      data-key={entry.key ?? undefined}
      data-client-secret={clientSecret}
      hidden
    >
      {isDemo && <p>{usePage().t('confirm.orBank')}</p>}
      <p>
        <button class={isDemo ? undefined : 'primary'} type="button">
          {usePage().t(isDemo ? 'confirm.letBank' : 'confirm.withBank')}
        </button>
      </p>
      <p class="problem" data-problem role="alert" />
    </div>
  )
}
