import type { ProviderName } from '@tollgate/billing'
import type { FC } from 'hono/jsx'
import type { ServiceContext } from '../../../context.ts'
import type { ContentPolicy } from '../../parts/render.tsx'
import { BadChoice } from '../model/problems.ts'
import { PROVIDER_NAMES } from '../model/providers.ts'
import { findTestCard, TEST_CARDS } from '../model/test-cards.ts'
import { TypedCard } from './typed-card.tsx'

/**
 * How a card gets from the person to the provider. Its number never passes through us: in a demo a test
 * card is chosen, or typed into what stands in for the provider's script; elsewhere that script takes it
 * and gives us a token.
 */
export interface CardEntry {
  readonly provider: ProviderName
  readonly kind: 'test' | 'script' | 'missing'
  /** Stripe's publishable key, where the script needs it. */
  readonly key: string | null
  /** Where the script is loaded from: the provider itself, in a demo the sandbox. */
  readonly script: string | null
}

/** At the provider, and below the sandbox's address. */
const SCRIPTS: Readonly<Record<ProviderName, { readonly url: string; readonly path: string }>> = {
  stripe: { url: 'https://js.stripe.com/v3/', path: '/v3/' },
  braintree: {
    url: 'https://js.braintreegateway.com/web/dropin/1.43.0/js/dropin.min.js',
    path: '/web/dropin/1.43.0/js/dropin.min.js',
  },
}

export function cardEntryOf(
  { sandbox, config }: ServiceContext,
  provider: ProviderName,
): CardEntry {
  const { url, path } = SCRIPTS[provider]
  if (sandbox) {
    const key = provider === 'stripe' ? sandbox.stripe.publishableKey : null
    return { provider, kind: 'test', key, script: `${sandbox[provider].url}${path}` }
  }
  if (provider === 'braintree') return { provider, kind: 'script', key: null, script: url }
  const key = config.stripePublishableKey
  if (key === null) return { provider, kind: 'missing', key, script: null }
  return { provider, kind: 'script', key, script: url }
}

/** What the provider's script loads and calls. Elsewhere the policy stays as strict as it is. */
const POLICIES: Readonly<Record<ProviderName, ContentPolicy>> = {
  // https://docs.stripe.com/security/guide#content-security-policy
  stripe: {
    'script-src': ['https://js.stripe.com', 'https://*.js.stripe.com'],
    'frame-src': ['https://js.stripe.com', 'https://*.js.stripe.com', 'https://hooks.stripe.com'],
    'connect-src': ['https://api.stripe.com'],
  },
  // https://braintree.github.io/braintree-web-drop-in/docs/current/#content-security-policy
  braintree: {
    'script-src': ['https://js.braintreegateway.com', 'https://assets.braintreegateway.com'],
    'style-src': ['https://assets.braintreegateway.com'],
    // Attributes alone: Drop-in hides and shows its parts by them.
    'style-src-attr': ["'unsafe-inline'"],
    'img-src': ['https://assets.braintreegateway.com', 'data:'],
    'frame-src': ['https://assets.braintreegateway.com'],
    'connect-src': [
      'https://api.braintreegateway.com',
      'https://api.sandbox.braintreegateway.com',
      'https://client-analytics.braintreegateway.com',
      'https://client-analytics.sandbox.braintreegateway.com',
      'https://*.braintree-api.com',
    ],
  },
}

export function policyFor({ kind, provider, script }: CardEntry): ContentPolicy {
  if (script === null) return {}
  if (kind === 'script') return POLICIES[provider]
  const { origin } = new URL(script)
  return { 'script-src': [origin], 'frame-src': [origin], 'connect-src': [origin] }
}

/** Once on a page, before our own script. Only ever loaded from the provider itself, or its sandbox. */
export const ProviderScript: FC<{ entry: CardEntry }> = ({ entry }) =>
  entry.script === null ? null : <script src={entry.script} defer />

/** The field of a form; it ends in a value named `token`. */
export const CardField: FC<{ entry: CardEntry; id: string; chosen?: string | null }> = (props) => {
  const { entry, id, chosen } = props
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
        <TypedCard provider={entry.provider} cardKey={entry.key} id={id} />
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
    <div class="card-entry" data-card-entry={entry.provider} data-key={entry.key ?? undefined}>
      <p>Card, sent to {name} and not to us</p>
      <div id={`${id}-mount`} data-mount />
      <p class="problem" data-problem role="alert" />
      <input type="hidden" name="token" value="" />
      <noscript>
        <p class="problem">Cards are taken by {name}’s own script. Please switch scripts on.</p>
      </noscript>
    </div>
  )
}

/** Payment methods of Stripe, nonces of Braintree. What they stand for is the provider's to say. */
const TOKENS: Readonly<Record<ProviderName, RegExp>> = {
  stripe: /^pm_\w{1,200}$/,
  braintree: /^[\w-]{1,200}$/,
}

/** In a demo: what the sandbox makes of a card that was typed in. */
const TYPED: Readonly<Record<ProviderName, RegExp>> = {
  stripe: /^pm_1\w{1,200}$/,
  braintree: /^tokencc_\w{1,200}$/,
}

export function parseToken(entry: CardEntry, value: string | null): string {
  const token = value ?? ''
  const isGood =
    entry.kind === 'test'
      ? findTestCard(entry.provider, token) !== null || TYPED[entry.provider].test(token)
      : TOKENS[entry.provider].test(token)
  if (isGood) return token
  throw new BadChoice(
    entry.kind === 'test' ? 'Please choose one of the test cards.' : 'Please enter a card.',
  )
}
