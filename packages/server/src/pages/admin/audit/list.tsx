import type { Context, Hono } from 'hono'
import type { FC } from 'hono/jsx'
import type { JsonLinesResult } from '../../../admin/lines.ts'
import { createLinesBody } from '../../../http/lines.ts'
import type { AppEnv } from '../../../http/variables.ts'
import { readCsrfForm } from '../../parts/forms.ts'
import { Heading, usePage } from '../../parts/layout.tsx'
import { Empty, Moment, Table } from '../../parts/table.tsx'
import { Pager, renderAdmin, requireRole, runOperation } from '../parts.tsx'
import { findPeople } from '../people/find.tsx'
import { ActorName, AUDIT_LOG_PATH, type EntryJson, ObjectLink, OutcomeLabel } from './entry.tsx'
import {
  AuditFilterFields,
  type AuditFilterForm,
  type AuditQuery,
  filterInput,
  readFilterForm,
  readQuery,
  toFilterForm,
} from './filter.tsx'

interface EntryPage {
  readonly data: readonly EntryJson[]
  readonly next: string | null
}

type Problems = Readonly<Partial<Record<'person' | 'actor', string>>>

/** Adds the list of the audit log, its filter and its export. */
export function addAuditListPage(app: Hono<AppEnv>): void {
  app.get(AUDIT_LOG_PATH, requireRole('admin'), (c) => {
    const query = readQuery(c.req.query())
    return renderList(c, { query, values: toFilterForm(query), problems: {} })
  })
  app.post(AUDIT_LOG_PATH, requireRole('admin'), async (c) => {
    const values = readFilterForm(await readCsrfForm(c))
    const { query, problems } = await resolve(c, values)
    if (Object.keys(problems).length > 0) return renderList(c, { query: {}, values, problems })
    const search = new URLSearchParams(query as Record<string, string>)
    return c.redirect(search.size > 0 ? `${AUDIT_LOG_PATH}?${search}` : AUDIT_LOG_PATH, 303)
  })
  app.get(`${AUDIT_LOG_PATH}/export`, requireRole('admin'), async (c) => {
    const input = filterInput(readQuery(c.req.query()))
    const { pages } = await runOperation<JsonLinesResult>(c, 'audit.export', input)
    const { logger } = c.get('page').service
    const body = await createLinesBody(pages, (error) =>
      logger.error({ err: error }, 'An export of the audit log was cut off'),
    )
    c.header('content-type', 'application/jsonl')
    c.header('content-disposition', 'attachment; filename="audit-log.jsonl"')
    c.header('cache-control', 'no-store')
    return c.body(body)
  })
}

/** Finds the people that the form names, so that the URL contains only their ids. */
async function resolve(
  c: Context<AppEnv>,
  values: AuditFilterForm,
): Promise<{ query: AuditQuery; problems: Problems }> {
  const { t } = c.get('page')
  const { person, actor, actor_kind: kind, ...others } = values
  const owner = await findOne(c, person)
  const operator = kind === 'operator' ? await findOne(c, actor) : null
  const actorId = kind === 'operator' ? operator : actor
  const problems = {
    ...(person !== '' && owner === null && { person: t('adminAudit.unknown') }),
    ...(kind !== '' && actor === '' && { actor: t('adminAudit.noActor') }),
    ...(kind !== '' && actor !== '' && actorId === null && { actor: t('adminAudit.unknown') }),
  }
  const query = readQuery({
    ...others,
    ...(owner !== null && { owner }),
    ...(kind !== '' && actorId !== null && { actor_kind: kind, actor_id: actorId }),
  })
  return { query, problems }
}

const OWNER = /^([1-9]\d{0,14}|team:[\w-]{1,64})$/

/**
 * Finds a person or team, as operations name owners. An id is returned as given, even one that was
 * deleted, because its entries remain.
 */
async function findOne(c: Context<AppEnv>, text: string): Promise<string | null> {
  if (text === '' || OWNER.test(text)) return text || null
  const { people, teams } = await findPeople(c, text)
  const [person] = people
  const [team] = teams
  return person?.id ?? (team ? `team:${team.id}` : null)
}

interface ListView {
  readonly query: AuditQuery
  readonly values: AuditFilterForm
  readonly problems: Problems
}

async function renderList(c: Context<AppEnv>, { query, values, problems }: ListView) {
  const { t } = c.get('page')
  const isInvalid = Object.keys(problems).length > 0
  const after = c.req.query('after')
  const input = { ...filterInput(query), ...(after !== undefined && { after }) }
  const { data, next } = isInvalid
    ? { data: [], next: null }
    : await runOperation<EntryPage>(c, 'audit.list', input)
  const search = new URLSearchParams(query as Record<string, string>)
  const { subject_kind: kind, subject_id: id } = query
  return renderAdmin(
    c,
    { title: t('admin.audit'), status: isInvalid ? 422 : 200 },
    <>
      <Heading title={t('admin.audit')} lead={t('adminAudit.lead')}>
        <div class="actions">
          <a class="button" href={`${AUDIT_LOG_PATH}/verify`}>
            {t('adminAudit.verify')}
          </a>
          <a class="button" href={`${AUDIT_LOG_PATH}/export?${search}`} download="audit-log.jsonl">
            {t('adminAudit.export')}
          </a>
        </div>
      </Heading>
      <AuditFilterFields values={values} problems={problems} isFiltered={search.size > 0} />
      <section class="card stack" aria-label={t('admin.audit')}>
        {kind !== undefined && id !== undefined && (
          <p>
            {t.parts('adminAudit.subjectOnly', { subject: <ObjectLink kind={kind} id={id} /> })}
          </p>
        )}
        {data.length === 0 ? <NoEntries hasNext={next !== null} /> : <EntryTable entries={data} />}
        <Pager c={c} next={next} />
      </section>
    </>,
  )
}

const NoEntries: FC<{ hasNext: boolean }> = ({ hasNext }) => {
  const { t } = usePage()
  if (hasNext) return <p>{t('adminAudit.searchGoesOn')}</p>
  return <Empty title={t('adminAudit.empty')}>{t('adminAudit.emptyText')}</Empty>
}

const EntryTable: FC<{ entries: readonly EntryJson[] }> = ({ entries }) => {
  const { t } = usePage()
  return (
    <Table
      caption={t('admin.audit')}
      columns={[
        t('adminAudit.operation'),
        t('adminAudit.time'),
        t('adminAudit.who'),
        t('adminAudit.whom'),
        t('adminAudit.outcome'),
      ]}
      rows={entries.map(({ id, at, actor, operation, outcome, subject }) => [
        <a
          href={`${AUDIT_LOG_PATH}/${encodeURIComponent(id)}`}
          aria-label={t('adminAudit.openEntry', { operation, moment: at })}
        >
          <code>{operation}</code>
        </a>,
        <Moment at={new Date(at)} />,
        <ActorName actor={actor} />,
        subject === null ? t('table.none') : <ObjectLink kind={subject.kind} id={subject.id} />,
        <OutcomeLabel outcome={outcome} />,
      ])}
    />
  )
}
