import type { FC } from 'hono/jsx'
import type { TopQuotaJson } from '../../../admin/operations/quotas.ts'
import { listGatePlans } from '../../../config/gate-plans.ts'
import { formatDecimal, type PageText } from '../../../messages/messages.ts'
import { usePage } from '../../parts/layout.tsx'
import { formatUsed, QuotaPlots, Reset } from '../../parts/quotas.tsx'
import { Table } from '../../parts/table.tsx'
import type { BillingSectionProps } from './owner-data.ts'

/** The used quotas of a person or team. Renders nothing if no plan has limits. */
export const Quotas: FC<BillingSectionProps> = ({ data: { quotas } }) => {
  const { t } = usePage()
  if (quotas.plan === null) return null
  return (
    <section class="card stack" aria-labelledby="quotas-title">
      <div class="row spread">
        <h2 id="quotas-title">{t('quotas.title')}</h2>
        <span class="badge">
          <PlanName id={quotas.plan} />
        </span>
      </div>
      {quotas.data.length === 0 ? <p>{t('quotas.noQuota')}</p> : <QuotaPlots uses={quotas.data} />}
    </section>
  )
}

const PlanName: FC<{ id: string }> = ({ id }) => {
  const { service, t } = usePage()
  const plan = listGatePlans(service.config.settings).find((each) => each.id === id)
  return <bdi>{plan?.name ?? (plan ? t('quotas.free') : id)}</bdi>
}

/** The people and teams that are closest to the end of a quota. */
export const TopUse: FC<{ top: readonly TopQuotaJson[] }> = ({ top }) => {
  const { t } = usePage()
  return (
    <section class="card" aria-labelledby="top-use-title">
      <h2 id="top-use-title">{t('quotas.top')}</h2>
      {top.length === 0 ? (
        <p>{t('quotas.top.none')}</p>
      ) : (
        <Table
          caption={t('quotas.top')}
          columns={[
            t('quotas.subject'),
            t('quotas.plan'),
            t('quotas.meter'),
            t('quotas.usedColumn'),
            t('quotas.share'),
            t('quotas.resets'),
          ]}
          rows={top.map((use) => [
            <Subject use={use} />,
            <PlanName id={use.plan} />,
            <bdi>{use.name}</bdi>,
            formatUsed(use, t),
            formatShare(use, t),
            use.resets_at === null ? t('table.none') : <Reset at={new Date(use.resets_at)} />,
          ])}
        />
      )}
    </section>
  )
}

const Subject: FC<{ use: TopQuotaJson }> = ({ use: { owner_type: type, owner_id: id, email } }) => {
  const { t } = usePage()
  const place = type === 'team' ? 'teams' : 'people'
  return (
    <a href={`/admin/${place}/${encodeURIComponent(id)}`}>
      <bdi>
        {email ?? (type === 'team' ? t('disputes.team', { id }) : t('disputes.person', { id }))}
      </bdi>
    </a>
  )
}

function formatShare({ used, quota }: TopQuotaJson, t: PageText): string {
  if (quota === null) return t('table.none')
  const percent = Math.floor((used / Math.max(1, quota)) * 100)
  return t('discount.percent', { percent: formatDecimal(String(percent), t) })
}
