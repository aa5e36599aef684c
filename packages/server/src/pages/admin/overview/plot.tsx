import type { FC } from 'hono/jsx'
import { usePage } from '../../parts/layout.tsx'

export interface PlotSeries {
  readonly name: string
  readonly values: readonly number[]
  readonly tone: 'main' | 'bad'
}

export interface PlotView {
  /** Id of the plot, unique on the page. */
  readonly id: string
  readonly title: string
  /** Definition of the number that the plot shows. */
  readonly explanation: string
  /** Most important number, shown above the plot. */
  readonly headline: string
  readonly days: readonly string[]
  /** Series of values, stacked from the bottom up. */
  readonly series: readonly PlotSeries[]
  readonly format: (value: number) => string
}

const WIDTH = 320
const HEIGHT = 140
const LEFT = 8
const TOP = 18
const BOTTOM = 18

/** A bar chart by day, drawn on the server, with all its numbers in a table. */
export const Plot: FC<PlotView> = (view) => {
  const { id, title, explanation, headline } = view
  const { t } = usePage()
  return (
    <section class="card plot" aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{title}</h2>
      <p class="headline">{headline}</p>
      <Drawing {...view} />
      {view.series.length > 1 && (
        <ul class="legend">
          {view.series.map(({ name, tone }) => (
            <li class={tone}>{name}</li>
          ))}
        </ul>
      )}
      <details>
        <summary>
          {t('plot.numbers')}
          <span class="unseen">{t('plot.numbersOf', { title })}</span>
        </summary>
        <p>
          <small>{explanation}</small>
        </p>
        <Numbers {...view} />
      </details>
    </section>
  )
}

const Drawing: FC<PlotView> = ({ id, title, days, series, format }) => {
  const { t } = usePage()
  const totals = days.map((_, at) => series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0))
  const highest = Math.max(...totals, 0)
  const top = roundUpAxis(highest)
  const inner = HEIGHT - TOP - BOTTOM
  const step = (WIDTH - 2 * LEFT) / days.length
  const base = HEIGHT - BOTTOM
  const y = (value: number) => round(base - (value / top) * inner)
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-labelledby={`${id}-svg ${id}-desc`}>
      <title id={`${id}-svg`}>{t('plot.byDay', { title })}</title>
      <desc id={`${id}-desc`}>
        {t('plot.description', {
          days: days.length,
          first: days[0] ?? '',
          last: days.at(-1) ?? '',
          highest: format(highest),
        })}
      </desc>
      <line class="grid" x1={LEFT} x2={WIDTH - LEFT} y1={y(top)} y2={y(top)} />
      <text class="tick" x={LEFT} y={y(top) - 5}>
        {format(top)}
      </text>
      {days.map((day, at) => {
        let below = 0
        return series.map(({ name, tone, values }) => {
          const value = values[at] ?? 0
          const from = below
          below += value
          if (value === 0) return null
          return (
            <rect
              class={`bar ${tone}`}
              x={round(LEFT + at * step + step * 0.12)}
              width={round(step * 0.76)}
              y={y(below)}
              height={round(Math.max(1, y(from) - y(below)))}
            >
              <title>
                {series.length > 1
                  ? t('plot.barOf', { day, series: name, value: format(value) })
                  : t('plot.bar', { day, value: format(value) })}
              </title>
            </rect>
          )
        })
      })}
      <line class="axis" x1={LEFT} x2={WIDTH - LEFT} y1={base} y2={base} />
      <text class="tick" x={LEFT} y={HEIGHT - 4}>
        {days[0] ?? ''}
      </text>
      <text class="tick end" x={WIDTH - LEFT} y={HEIGHT - 4}>
        {days.at(-1) ?? ''}
      </text>
    </svg>
  )
}

const Numbers: FC<PlotView> = ({ title, days, series, format }) => (
  <table class="amounts sum">
    <caption class="unseen">{usePage().t('plot.byDay', { title })}</caption>
    <thead>
      <tr>
        <th scope="col">{usePage().t('plot.day')}</th>
        {series.map(({ name }) => (
          <th scope="col">{name}</th>
        ))}
      </tr>
    </thead>
    <tbody>
      {days.map((day, at) => (
        <tr>
          <th scope="row">{day}</th>
          {series.map(({ values }) => (
            <td>{format(values[at] ?? 0)}</td>
          ))}
        </tr>
      ))}
    </tbody>
  </table>
)

/**
 * Returns the upper end of the axis: the smallest 1, 2 or 5 times a power of ten that is at least
 * as high as the highest bar.
 */
export function roundUpAxis(highest: number): number {
  if (highest <= 1) return 1
  const power = 10 ** Math.floor(Math.log10(highest))
  return [1, 2, 5, 10].map((factor) => factor * power).find((top) => top >= highest) ?? highest
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
