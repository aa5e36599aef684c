import type { FC } from 'hono/jsx'
import { FREE_PLAN, listGatePlans } from '../../../config/gate-plans.ts'
import { usePage } from '../../parts/layout.tsx'
import { QuotaPlots } from '../../parts/quotas.tsx'
import { ScopeList } from '../../parts/table.tsx'
import type { PlanUse } from '../model/account.ts'

/** The use of the quotas of the plan, what the plan allows, and a link to the other plans. */
export const Quotas: FC<{ use: PlanUse; plansId: string | null }> = ({ use, plansId }) => {
  const { service, t } = usePage()
  const { settings } = service.config
  const plan = listGatePlans(settings).find(({ id }) => id === use.plan)
  const isFree = use.plan === FREE_PLAN
  return (
    <section class="stack" aria-labelledby="quotas-title">
      <div class="row spread">
        <h2 id="quotas-title">{t('quotas.title')}</h2>
        <span class="badge">{plan?.name ?? (isFree ? t('quotas.free') : use.plan)}</span>
      </div>
      {use.uses.length > 0 && <QuotaPlots uses={use.uses} />}
      {isFree && plan && plan.features.length > 0 && (
        <ul class="features">
          {plan.features.map((feature) => (
            <li>{feature}</li>
          ))}
        </ul>
      )}
      {plan?.scopes && plan.scopes.length > 0 && (
        <details>
          <summary>{t('quotas.allows')}</summary>
          <ScopeList names={plan.scopes} scopes={settings.scopes} />
        </details>
      )}
      {plansId !== null && (
        <p>
          <a href={`#${plansId}`}>{t('quotas.upgrade')}</a>
        </p>
      )}
    </section>
  )
}
