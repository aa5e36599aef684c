import type { Hono } from 'hono'
import type { Child, FC } from 'hono/jsx'
import type { AppEnv } from '../../../http/variables.ts'
import type { PageText } from '../../../messages/messages.ts'
import { usePage } from '../../parts/layout.tsx'
import { Moment } from '../../parts/table.tsx'
import { Pager, renderAdmin, requireRole } from '../parts.tsx'
import {
  type EventJson,
  type PersonJson,
  type PersonSectionProps,
  readPerson,
  readTimeline,
} from './person-data.ts'
import { pathOf } from './person-path.ts'

const PER_PAGE = 50

/** Adds the page that lists all acts on a person. */
export function addTimelinePage(app: Hono<AppEnv>): void {
  app.get('/admin/people/:id/timeline', requireRole('viewer'), async (c) => {
    const { t } = c.get('page')
    const person = await readPerson(c, c.req.param('id'))
    const after = c.req.query('after')
    const limit = PER_PAGE
    const page = await readTimeline(
      c,
      person.id,
      after === undefined ? { limit } : { limit, after },
    )
    return renderAdmin(
      c,
      { title: t('people.timeline') },
      <>
        <h1>{t.parts('people.timelineOf', { name: <bdi>{person.email}</bdi> })}</h1>
        <section class="card" aria-label={t('people.timeline')}>
          <Events events={page.data} person={page.next === null ? person : null} />
          <Pager c={c} next={page.next} />
        </section>
        <p>
          <a href={pathOf(person.id)}>
            {t.parts('people.backTo', { name: <bdi>{person.email}</bdi> })}
          </a>
        </p>
      </>,
    )
  })
}

/** The latest entries of the audit log about a person, newest first. */
export const Timeline: FC<PersonSectionProps> = ({ data: { person, timeline } }) => {
  const { t } = usePage()
  const isAll = timeline.next === null
  return (
    <section class="card" aria-labelledby="timeline-title">
      <h2 id="timeline-title">{t('people.timeline')}</h2>
      <Events events={timeline.data} person={isAll ? person : null} />
      {!isAll && (
        <p>
          <a href={`${pathOf(person.id)}/timeline`}>{t('people.timeline.all')}</a>
        </p>
      )}
    </section>
  )
}

/** `person` is shown at the end: the account was created before everything else. */
const Events: FC<{ events: readonly EventJson[]; person: PersonJson | null }> = ({
  events,
  person,
}) => {
  const { t } = usePage()
  // An intent says nothing more once its outcome is known.
  const ended = new Set(events.map(({ intent_id }) => intent_id))
  const shown = events.filter(({ id }) => !ended.has(id))
  return (
    <ol class="timeline plain">
      {shown.map((event) => (
        <Entry at={event.at}>
          {describeOperation(event, t)}
          {event.outcome !== 'done' && (
            <span class={`badge ${event.outcome === 'started' ? 'warning' : 'bad'}`}>
              {t(`people.outcome.${toKnownOutcome(event)}`)}
            </span>
          )}
          <span class="quiet-text">{describeActor(event, t)}</span>
        </Entry>
      ))}
      {person && <Entry at={person.created_at}>{t('people.event.created')}</Entry>}
    </ol>
  )
}

const Entry: FC<{ at: string; children?: Child }> = ({ at, children }) => (
  <li>
    <Moment at={new Date(at)} />
    <span class="row">{children}</span>
  </li>
)

const OUTCOMES = ['started', 'failed', 'refused'] as const

function toKnownOutcome({ outcome }: EventJson): (typeof OUTCOMES)[number] {
  return OUTCOMES.find((name) => name === outcome) ?? 'started'
}

/** Operations that the timeline has its own words for. */
const EVENTS = [
  'users.create',
  'users.setPassword',
  'users.disable',
  'users.enable',
  'users.signOut',
  'users.delete',
  'users.setRole',
  'users.endSession',
  'users.revokeApplication',
  'users.revokeToken',
  'users.unlink',
  'billing.sync',
  'billing.cancel',
  'billing.cancelNow',
  'billing.resume',
  'billing.extendTrial',
  'billing.applyCoupon',
  'billing.applyPromotionCode',
  'billing.removeDiscounts',
  'billing.planChange',
  'billing.cancelPlannedChange',
  'billing.pause',
  'billing.unpause',
  'billing.addTaxId',
  'billing.removeTaxId',
  'billing.setTaxExempt',
  'billing.setAddress',
  'billing.comp',
  'billing.refund',
  'billing.issueCreditNote',
  'billing.voidInvoice',
  'billing.credit',
  'billing.debit',
] as const

function describeOperation({ operation }: EventJson, t: PageText): Child {
  const known = EVENTS.find((name) => name === operation)
  return known ? t(`people.event.${known}`) : <code>{operation}</code>
}

function describeActor({ actor: { kind, id, email } }: EventJson, t: PageText): Child {
  if (kind === 'client') return t.parts('people.byClient', { id: <code>{id ?? ''}</code> })
  if (kind === 'command') return t.parts('people.byCommand', { name: <bdi>{id ?? ''}</bdi> })
  return t.parts('people.byOperator', { name: <bdi>{email ?? id ?? ''}</bdi> })
}
