import type { Hono } from 'hono'
import type { FC } from 'hono/jsx'
import { parseOwner } from '../../../admin/operations/owners.ts'
import type { AppEnv } from '../../../http/variables.ts'
import { usePage } from '../../parts/layout.tsx'
import { Fact, Moment } from '../../parts/table.tsx'
import { renderAdmin, requireRole, runOperation } from '../parts.tsx'
import {
  ActorName,
  AUDIT_LOG_PATH,
  buildAuditUrl,
  ChannelName,
  type EntryJson,
  ObjectLink,
  OutcomeLabel,
} from './entry.tsx'

/** Adds the page of an entry in the audit log. */
export function addAuditEntryPage(app: Hono<AppEnv>): void {
  app.get(`${AUDIT_LOG_PATH}/:id`, requireRole('admin'), async (c) => {
    const { t } = c.get('page')
    const entry = await runOperation<EntryJson>(c, 'audit.get', { id: c.req.param('id') })
    const { subject } = entry
    return renderAdmin(
      c,
      { title: t('adminAudit.entry') },
      <section class="card stack" aria-labelledby="entry">
        <h1 id="entry">
          <code>{entry.operation}</code>
        </h1>
        <dl class="facts broad">
          <Act entry={entry} />
          <Place entry={entry} />
        </dl>
        <Values title={t('adminAudit.details')} values={entry.details} />
        <Values title={t('adminAudit.personal')} values={entry.personal} />
        <p class="row aside">
          <a href={AUDIT_LOG_PATH}>{t('adminAudit.back')}</a>
          {subject !== null && subject.id !== null && (
            <a href={buildAuditUrl(subject.kind, subject.id)}>{t('adminAudit.about')}</a>
          )}
        </p>
      </section>,
    )
  })
}

const Act: FC<{ entry: EntryJson }> = ({ entry }) => {
  const { t } = usePage()
  const { actor, subject, owner, intent_id: intent } = entry
  return (
    <>
      <Fact term={t('adminAudit.time')}>
        <Moment at={new Date(entry.at)} />
      </Fact>
      <Fact term={t('adminAudit.outcome')}>
        <OutcomeLabel outcome={entry.outcome} />
      </Fact>
      <Fact term={t('adminAudit.who')}>
        <ActorName actor={actor} />
      </Fact>
      <Fact term={t('adminAudit.door')}>
        <ChannelName door={entry.door} />
      </Fact>
      {entry.door !== 'command' && (
        <Fact term={t('adminAudit.address')}>{actor.address ?? t('adminAudit.forgotten')}</Fact>
      )}
      {subject !== null && (
        <Fact term={t('adminAudit.whom')}>
          <ObjectLink kind={subject.kind} id={subject.id} />
        </Fact>
      )}
      {owner !== null && (
        <Fact term={t('adminAudit.owner')}>
          <ObjectLink kind={parseOwner(owner).type} id={parseOwner(owner).id} />
        </Fact>
      )}
      {intent !== null && (
        <Fact term={t('adminAudit.intent')}>
          <a href={`${AUDIT_LOG_PATH}/${encodeURIComponent(intent)}`}>
            {t('adminAudit.intentLink')}
          </a>
        </Fact>
      )}
    </>
  )
}

const Place: FC<{ entry: EntryJson }> = ({ entry: { number, chained_at: at, hash } }) => {
  const { t } = usePage()
  return (
    <>
      <Fact term={t('adminAudit.place')}>{number ?? t('adminAudit.waiting')}</Fact>
      {at !== null && (
        <Fact term={t('adminAudit.chainedAt')}>
          <Moment at={new Date(at)} />
        </Fact>
      )}
      {hash !== null && (
        <Fact term={t('adminAudit.hash')}>
          <code>{hash}</code>
        </Fact>
      )}
    </>
  )
}

/** Facts of the entry as JSON. Renders nothing if there are none. */
const Values: FC<{ title: string; values: Readonly<Record<string, unknown>> }> = (props) => {
  if (Object.keys(props.values).length === 0) return null
  return (
    <>
      <h2>{props.title}</h2>
      <pre>{JSON.stringify(props.values, null, 2)}</pre>
    </>
  )
}
