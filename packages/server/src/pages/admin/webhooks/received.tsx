import type { Context, Hono } from 'hono'
import type { AdminProblem } from '../../../admin/problems.ts'
import type { AppEnv } from '../../../http/variables.ts'
import { readCsrfForm } from '../../parts/forms.ts'
import { Heading } from '../../parts/layout.tsx'
import { Empty, Fact, Moment, Table } from '../../parts/table.tsx'
import { describeProvider } from '../billing/describe-provider.ts'
import {
  AdminForm,
  getOperator,
  mayCall,
  Pager,
  performOrShowProblem,
  renderAdmin,
  requireRole,
  runOperation,
} from '../parts.tsx'
import {
  Attempts,
  EventType,
  LastError,
  Payload,
  type PayloadJson,
  type QueuedJson,
  RECEIVED_STATES,
  readStateFilter,
  StateBadge,
  WEBHOOKS_PATH,
  WebhookLinks,
} from './state.tsx'

interface WebhookJson extends QueuedJson {
  readonly provider: string
  readonly received_at: string
}

const pathOf = (id: string | number) => `${WEBHOOKS_PATH}/received/${encodeURIComponent(id)}`

/** Adds the pages of events from the payment providers. */
export function addReceivedWebhookPages(app: Hono<AppEnv>): void {
  app.get(WEBHOOKS_PATH, requireRole('viewer'), async (c) => {
    const { t } = c.get('page')
    const state = readStateFilter(c.req.query('state'), RECEIVED_STATES)
    const after = c.req.query('after')
    const { data, next } = await runOperation<{ data: WebhookJson[]; next: string | null }>(
      c,
      'webhooks.list',
      { state, ...(after !== undefined && { after }) },
    )
    const isReader = mayCall(getOperator(c), 'webhooks.get')
    return renderAdmin(
      c,
      { title: t('admin.webhooks') },
      <>
        <Heading title={t('admin.webhooks')} lead={t('adminWebhooks.lead')} />
        <WebhookLinks path={WEBHOOKS_PATH} states={RECEIVED_STATES} state={state} />
        <section class="card stack" aria-label={t('adminWebhooks.received')}>
          <p>{t(`adminWebhooks.explain.${state}`)}</p>
          {data.length === 0 ? (
            <Empty title={t('adminWebhooks.empty')}>{t('adminWebhooks.emptyText')}</Empty>
          ) : (
            <Table
              caption={t('adminWebhooks.received')}
              columns={[
                t('adminWebhooks.type'),
                t('adminWebhooks.provider'),
                t('adminWebhooks.receivedAt'),
                t('adminWebhooks.error'),
              ]}
              rows={data.map((event) => [
                <EventType type={event.type} href={isReader ? pathOf(event.id) : null} />,
                describeProvider(event.provider),
                <Moment at={new Date(event.received_at)} />,
                <Attempts event={event} />,
              ])}
            />
          )}
          <Pager c={c} next={next} />
        </section>
      </>,
    )
  })

  app.get(`${WEBHOOKS_PATH}/received/:id`, requireRole('support'), (c) =>
    renderReceived(c, c.req.param('id'), null),
  )
  app.post(`${WEBHOOKS_PATH}/received/:id/retry`, requireRole('support'), async (c) => {
    const form = await readCsrfForm(c)
    const id = c.req.param('id')
    return performOrShowProblem(
      c,
      async () => {
        await runOperation(c, 'webhooks.retry', { webhook: id }, form)
        return c.redirect(`${pathOf(id)}?done=retried`, 303)
      },
      (problem) => renderReceived(c, id, problem),
    )
  })
}

async function renderReceived(c: Context<AppEnv>, id: string, problem: AdminProblem | null) {
  const { t } = c.get('page')
  const event = await runOperation<WebhookJson & PayloadJson>(c, 'webhooks.get', { webhook: id })
  const isWaiting = event.state === 'pending'
  return renderAdmin(
    c,
    {
      title: event.type,
      problem,
      ...(c.req.query('done') === 'retried' && { notice: t('adminWebhooks.wasRetried') }),
    },
    <>
      <section class="card stack" aria-labelledby="event">
        <h1 id="event">
          <code>{event.type}</code>
        </h1>
        <dl class="facts broad">
          <Fact term={t('adminWebhooks.state')}>
            <StateBadge state={event.state} />
          </Fact>
          <Fact term={t('adminWebhooks.provider')}>{describeProvider(event.provider)}</Fact>
          <Fact term={t('adminWebhooks.eventId')}>
            <code>{event.event_id}</code>
          </Fact>
          <Fact term={t('adminWebhooks.receivedAt')}>
            <Moment at={new Date(event.received_at)} />
          </Fact>
          <Fact term={t('adminWebhooks.attempts')}>{event.attempts}</Fact>
          <Fact term={t(isWaiting ? 'adminWebhooks.next' : 'adminWebhooks.last')}>
            <Moment at={new Date(event.due_at)} />
          </Fact>
          {event.finished_at !== null && (
            <Fact term={t('adminWebhooks.finished')}>
              <Moment at={new Date(event.finished_at)} />
            </Fact>
          )}
          <Fact term={t('adminWebhooks.error')}>
            <LastError text={event.last_error} />
          </Fact>
        </dl>
        {!isWaiting && mayCall(getOperator(c), 'webhooks.retry') && (
          <AdminForm action={`${pathOf(event.id)}/retry`}>
            <p>{t('adminWebhooks.retryText')}</p>
            <button type="submit">{t('adminWebhooks.retry')}</button>
          </AdminForm>
        )}
        <p class="aside">
          <a href={WEBHOOKS_PATH}>{t('adminWebhooks.back')}</a>
        </p>
      </section>
      <Payload payload={event.payload} payload_truncated={event.payload_truncated} />
    </>,
  )
}
