import type { FC } from 'hono/jsx'
import { usePage } from '../../parts/layout.tsx'
import { BreakableUrl } from '../../parts/table.tsx'

export const WEBHOOKS_PATH = '/admin/webhooks'
export const SENT_PATH = `${WEBHOOKS_PATH}/sent`

/** States of events that are received, in the order of the links. */
export const RECEIVED_STATES = ['dead', 'pending', 'done'] as const
/** States of deliveries to the application. */
export const SENT_STATES = ['dead', 'gone', 'pending', 'done'] as const

export type WebhookState = (typeof SENT_STATES)[number]

/** The members that received and sent events have in common. */
export interface QueuedJson {
  readonly id: number
  readonly event_id: string
  readonly type: string
  readonly state: WebhookState
  readonly attempts: number
  readonly due_at: string
  readonly last_error: string | null
  readonly finished_at: string | null
}

/** The content of an event. */
export interface PayloadJson {
  readonly payload: unknown
  readonly payload_truncated: boolean
}

/**
 * Reads the state to filter by from the query of a page. Without one, the page lists the webhooks
 * that failed.
 */
export function readStateFilter<State extends WebhookState>(
  stateParam: string | undefined,
  states: readonly State[],
): State | 'dead' {
  return states.find((state) => state === stateParam) ?? 'dead'
}

/** Links to the received and the sent webhooks, and to the states of the present list. */
export const WebhookLinks: FC<{
  path: string
  states: readonly WebhookState[]
  state: WebhookState
}> = ({ path, states, state }) => {
  const { t } = usePage()
  const directions = [
    { href: WEBHOOKS_PATH, label: t('adminWebhooks.received') },
    { href: SENT_PATH, label: t('adminWebhooks.sent') },
  ]
  return (
    <>
      <nav aria-label={t('adminWebhooks.direction')}>
        <ul class="row plain">
          {directions.map(({ href, label }) => (
            <li>
              <a class="button" href={href} aria-current={href === path ? 'true' : undefined}>
                {label}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <nav aria-label={t('adminWebhooks.state')}>
        <ul class="row plain">
          {states.map((each) => (
            <li>
              <a
                class="button small"
                href={`${path}?state=${each}`}
                aria-current={each === state ? 'true' : undefined}
              >
                {t(`adminWebhooks.state.${each}`)}
              </a>
            </li>
          ))}
        </ul>
      </nav>
    </>
  )
}

const TONES: Readonly<Record<WebhookState, string>> = {
  dead: 'badge bad',
  gone: 'badge warning',
  pending: 'badge',
  done: 'badge good',
}

export const StateBadge: FC<{ state: WebhookState }> = ({ state }) => (
  <span class={TONES[state]}>{usePage().t(`adminWebhooks.state.${state}`)}</span>
)

/** The type of an event, as a link if the operator may see the payload. */
export const EventType: FC<{ type: string; href: string | null }> = ({ type, href }) => {
  const name = (
    <code>
      <BreakableUrl url={type} />
    </code>
  )
  return <div class="event-type">{href === null ? name : <a href={href}>{name}</a>}</div>
}

/** The number of attempts, and why the last one failed. */
export const Attempts: FC<{ event: QueuedJson }> = ({ event }) => (
  <>
    <LastError text={event.last_error} />
    <br />
    <small>
      {usePage().t('adminWebhooks.attempts')}: {event.attempts}
    </small>
  </>
)

/** The error message of a program, in English. */
export const LastError: FC<{ text: string | null }> = ({ text }) =>
  text === null ? <span>{usePage().t('table.none')}</span> : <code lang="en">{text}</code>

/** The content of an event, as it was received or will be sent. */
export const Payload: FC<PayloadJson> = ({ payload, payload_truncated: isTruncated }) => {
  const { t } = usePage()
  return (
    <section class="card stack" aria-labelledby="payload">
      <h2 id="payload">{t('adminWebhooks.payload')}</h2>
      <p class="quiet-text">
        {t('adminWebhooks.hidden')} {isTruncated && t('adminWebhooks.truncated')}
      </p>
      <pre>{typeof payload === 'string' ? payload : JSON.stringify(payload, null, 2)}</pre>
    </section>
  )
}
