import type { StoredWebhook } from '@tollgate/billing'
import type { FC } from 'hono/jsx'
import type { PageContext } from '../../http/variables.ts'
import { redactText } from '../../logger.ts'
import { formatDay } from '../billing/model/dates.ts'
import { PROVIDER_NAMES } from '../billing/model/providers.ts'
import { CsrfField } from '../parts/layout.tsx'

/** Events that were given up on. Somebody has to look at them. */
export const DeadLetters: FC<{
  page: PageContext
  events: readonly StoredWebhook[]
  most: number
}> = ({ page, events, most }) => (
  <section class="card stack" aria-labelledby="dead-title">
    <h2 id="dead-title">Dead letters</h2>
    {events.length === 0 ? (
      <p>None: every event of the providers was worked on, or still will be.</p>
    ) : (
      <>
        <p>
          Events that failed at every attempt{events.length === most ? `, the first ${most}` : ''}.
        </p>
        <ul class="letters">
          {events.map((event) => (
            <li>
              <p>
                <strong>{event.type}</strong> of {PROVIDER_NAMES[event.provider]}, received on{' '}
                {formatDay(event.receivedAt)}, {event.attempts} attempts
              </p>
              <p>
                <code>{redactText(event.lastError ?? '')}</code>
              </p>
              <form method="post" action="/overview/retry">
                <CsrfField page={page} />
                <input type="hidden" name="id" value={event.id} />
                <button type="submit" aria-label={`Try again: ${event.type} ${event.eventId}`}>
                  Try again
                </button>
              </form>
            </li>
          ))}
        </ul>
      </>
    )}
  </section>
)
