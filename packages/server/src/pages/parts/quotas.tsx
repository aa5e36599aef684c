import type { FC } from 'hono/jsx'
import type { QuotaJson } from '../../admin/operations/quotas.ts'
import { formatDecimal, type PageText } from '../../messages/messages.ts'
import { usePage } from './layout.tsx'
import { Day, Moment } from './table.tsx'

const WIDTH = 320
const HEIGHT = 14
const TWO_DAYS = 2 * 86_400_000

/** The used part of each quota, as a bar with its numbers. */
export const QuotaPlots: FC<{ uses: readonly QuotaJson[] }> = ({ uses }) => (
  <ul class="plots plain">
    {uses.map((use) => (
      <li class="card plot">
        <strong>
          <bdi>{use.name}</bdi>
        </strong>
        <p class="headline">{formatUsed(use, usePage().t)}</p>
        <QuotaBar use={use} />
        <Rest use={use} />
      </li>
    ))}
  </ul>
)

const QuotaBar: FC<{ use: QuotaJson }> = ({ use }) => {
  const { t } = usePage()
  if (use.quota === null) return null
  const share = use.quota === 0 ? 1 : Math.min(1, use.used / use.quota)
  const label = t('quotas.bar', { name: use.name, percent: Math.floor(share * 100) })
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
      <rect
        class={`bar ${use.remaining === 0 ? 'bad' : 'main'}`}
        width={Math.round(share * WIDTH)}
        height={HEIGHT - 2}
      />
      <line class="axis" x1={0} x2={WIDTH} y1={HEIGHT - 1} y2={HEIGHT - 1} />
    </svg>
  )
}

/** The rest of the quota, and the date when it starts over. */
const Rest: FC<{ use: QuotaJson }> = ({ use: { remaining, resets_at } }) => {
  const { t } = usePage()
  if (remaining === null) return null
  const left = formatDecimal(String(remaining), t)
  return (
    <p>
      <small>
        {resets_at === null
          ? t('quotas.left', { left })
          : t.parts('quotas.leftUntil', { left, date: <Reset at={new Date(resets_at)} /> })}
      </small>
    </p>
  )
}

/** A moment with its time if it is soon, as for a quota per hour. */
export const Reset: FC<{ at: Date }> = ({ at }) =>
  at.getTime() - Date.now() < TWO_DAYS ? <Moment at={at} /> : <Day at={at} />

/** Formats the used part of a quota: `412 of 1,000 words`. */
export function formatUsed({ used, quota, unit }: QuotaJson, t: PageText): string {
  const numbers =
    quota === null
      ? formatDecimal(String(used), t)
      : t('quotas.used', {
          used: formatDecimal(String(used), t),
          quota: formatDecimal(String(quota), t),
        })
  return unit === null ? numbers : `${numbers} ${unit}`
}
