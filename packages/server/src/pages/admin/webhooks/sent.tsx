import type { Context, Hono } from 'hono'
import type { FC } from 'hono/jsx'
import type { AdminProblem } from '../../../admin/problems.ts'
import type { AppEnv } from '../../../http/variables.ts'
import { readCsrfForm } from '../../parts/forms.ts'
import { Heading, usePage } from '../../parts/layout.tsx'
import { Empty, Fact, Moment, Table } from '../../parts/table.tsx'
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
  readStateFilter,
  SENT_PATH,
  SENT_STATES,
  StateBadge,
  WebhookLinks,
} from './state.tsx'

interface DeliveryJson extends QueuedJson {
  readonly endpoint: string
  readonly created_at: string
}

interface EndpointJson {
  readonly endpoint: string
}

const pathOf = (id: string | number) => `${SENT_PATH}/${encodeURIComponent(id)}`

/** Adds the pages of events that the service sends to the endpoints of the application. */
export function addSentWebhookPages(app: Hono<AppEnv>): void {
  app.get(SENT_PATH, requireRole('viewer'), (c) => renderList(c, null))
  app.post(`${SENT_PATH}/resend-all`, requireRole('support'), async (c) => {
    const form = await readCsrfForm(c)
    return performOrShowProblem(
      c,
      async () => {
        const input = { endpoint: form.get('endpoint') ?? '' }
        await runOperation(c, 'webhooks.resendAll', input, form)
        return c.redirect(`${SENT_PATH}?state=pending&done=all`, 303)
      },
      (problem) => renderList(c, problem),
    )
  })

  app.get(`${SENT_PATH}/:id`, requireRole('support'), (c) =>
    renderDelivery(c, c.req.param('id'), null),
  )
  app.post(`${SENT_PATH}/:id/resend`, requireRole('support'), async (c) => {
    const form = await readCsrfForm(c)
    const id = c.req.param('id')
    return performOrShowProblem(
      c,
      async () => {
        await runOperation(c, 'webhooks.resend', { delivery: id }, form)
        return c.redirect(`${pathOf(id)}?done=resent`, 303)
      },
      (problem) => renderDelivery(c, id, problem),
    )
  })
}

async function renderList(c: Context<AppEnv>, problem: AdminProblem | null) {
  const { t } = c.get('page')
  const state = readStateFilter(c.req.query('state'), SENT_STATES)
  const after = c.req.query('after')
  const [{ data, next }, { data: endpoints }] = await Promise.all([
    runOperation<{ data: DeliveryJson[]; next: string | null }>(c, 'webhooks.listDeliveries', {
      state,
      ...(after !== undefined && { after }),
    }),
    runOperation<{ data: EndpointJson[] }>(c, 'webhooks.listEndpoints', {}),
  ])
  const operator = getOperator(c)
  const isReader = mayCall(operator, 'webhooks.getDelivery')
  return renderAdmin(
    c,
    {
      title: t('adminWebhooks.sent'),
      problem,
      ...(c.req.query('done') === 'all' && { notice: t('adminWebhooks.wereResent') }),
    },
    <>
      <Heading title={t('admin.webhooks')} lead={t('adminWebhooks.lead')} />
      <WebhookLinks path={SENT_PATH} states={SENT_STATES} state={state} />
      <section class="card stack" aria-label={t('adminWebhooks.sent')}>
        <p>{t(`adminWebhooks.explain.${state}`)}</p>
        {data.length === 0 ? (
          <Empty title={t('adminWebhooks.empty')}>
            {t(endpoints.length === 0 ? 'adminWebhooks.noEndpoints' : 'adminWebhooks.emptyText')}
          </Empty>
        ) : (
          <Table
            caption={t('adminWebhooks.sent')}
            columns={[
              t('adminWebhooks.type'),
              t('adminWebhooks.endpoint'),
              t('adminWebhooks.createdAt'),
              t('adminWebhooks.error'),
            ]}
            rows={data.map((delivery) => [
              <EventType type={delivery.type} href={isReader ? pathOf(delivery.id) : null} />,
              delivery.endpoint,
              <Moment at={new Date(delivery.created_at)} />,
              <Attempts event={delivery} />,
            ])}
          />
        )}
        <Pager c={c} next={next} />
      </section>
      {endpoints.length > 0 && (
        <Endpoints endpoints={endpoints} mayResend={mayCall(operator, 'webhooks.resendAll')} />
      )}
    </>,
  )
}

const Endpoints: FC<{ endpoints: readonly EndpointJson[]; mayResend: boolean }> = (props) => {
  const { t } = usePage()
  return (
    <section class="card stack" aria-labelledby="endpoints">
      <h2 id="endpoints">{t('adminWebhooks.endpoints')}</h2>
      <ul class="plain stack">
        {props.endpoints.map(({ endpoint }) => (
          <li class="row spread">
            <span class="word">{endpoint}</span>
            {props.mayResend && (
              <AdminForm action={`${SENT_PATH}/resend-all`}>
                <input type="hidden" name="endpoint" value={endpoint} />
                <button
                  type="submit"
                  class="small"
                  aria-label={t('adminWebhooks.resendAllName', { endpoint })}
                >
                  {t('adminWebhooks.resendAll')}
                </button>
              </AdminForm>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}

async function renderDelivery(c: Context<AppEnv>, id: string, problem: AdminProblem | null) {
  const { t } = c.get('page')
  const delivery = await runOperation<DeliveryJson & PayloadJson>(c, 'webhooks.getDelivery', {
    delivery: id,
  })
  const isWaiting = delivery.state === 'pending'
  return renderAdmin(
    c,
    {
      title: delivery.type,
      problem,
      ...(c.req.query('done') === 'resent' && { notice: t('adminWebhooks.wasResent') }),
    },
    <>
      <section class="card stack" aria-labelledby="event">
        <h1 id="event">
          <code>{delivery.type}</code>
        </h1>
        <dl class="facts broad">
          <Fact term={t('adminWebhooks.state')}>
            <StateBadge state={delivery.state} />
          </Fact>
          <Fact term={t('adminWebhooks.endpoint')}>{delivery.endpoint}</Fact>
          <Fact term={t('adminWebhooks.eventId')}>
            <code>{delivery.event_id}</code>
          </Fact>
          <Fact term={t('adminWebhooks.createdAt')}>
            <Moment at={new Date(delivery.created_at)} />
          </Fact>
          <Fact term={t('adminWebhooks.attempts')}>{delivery.attempts}</Fact>
          <Fact term={t(isWaiting ? 'adminWebhooks.next' : 'adminWebhooks.last')}>
            <Moment at={new Date(delivery.due_at)} />
          </Fact>
          {delivery.finished_at !== null && (
            <Fact term={t('adminWebhooks.finished')}>
              <Moment at={new Date(delivery.finished_at)} />
            </Fact>
          )}
          <Fact term={t('adminWebhooks.error')}>
            <LastError text={delivery.last_error} />
          </Fact>
        </dl>
        {mayCall(getOperator(c), 'webhooks.resend') && (
          <AdminForm action={`${pathOf(delivery.id)}/resend`}>
            <p>{t('adminWebhooks.resendText')}</p>
            <button type="submit">{t('adminWebhooks.resend')}</button>
          </AdminForm>
        )}
        <p class="aside">
          <a href={SENT_PATH}>{t('adminWebhooks.back')}</a>
        </p>
      </section>
      <Payload payload={delivery.payload} payload_truncated={delivery.payload_truncated} />
    </>,
  )
}
