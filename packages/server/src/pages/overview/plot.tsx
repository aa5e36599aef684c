import type { FC } from 'hono/jsx'

export interface Series {
  readonly name: string
  readonly values: readonly number[]
  readonly tone: 'main' | 'bad'
}

export interface PlotView {
  /** Unique on the page. */
  readonly id: string
  readonly title: string
  /** What exactly is counted. */
  readonly explanation: string
  /** The statistic to read first. */
  readonly headline: string
  readonly days: readonly string[]
  /** Stacked in this order, from below. */
  readonly series: readonly Series[]
  readonly format: (value: number) => string
}

const WIDTH = 320
const HEIGHT = 140
const LEFT = 8
const TOP = 18
const BOTTOM = 18

/** Bars by day, drawn on the server, with all their numbers in a table behind them. */
export const Plot: FC<PlotView> = (view) => {
  const { id, title, explanation, headline } = view
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
      <p>
        <small>{explanation}</small>
      </p>
      <details>
        <summary>
          Numbers<span class="unseen"> of {title.toLowerCase()}</span>
        </summary>
        <Numbers {...view} />
      </details>
    </section>
  )
}

const Drawing: FC<PlotView> = ({ id, title, days, series, format }) => {
  const totals = days.map((_, at) => series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0))
  const highest = Math.max(...totals, 0)
  const top = niceTop(highest)
  const inner = HEIGHT - TOP - BOTTOM
  const step = (WIDTH - 2 * LEFT) / days.length
  const base = HEIGHT - BOTTOM
  const y = (value: number) => round(base - (value / top) * inner)
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-labelledby={`${id}-svg ${id}-desc`}>
      <title id={`${id}-svg`}>{title}, by day</title>
      <desc id={`${id}-desc`}>
        {`${days.length} days from ${days[0]} to ${days.at(-1)}; the highest is ${format(highest)}.`}
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
              <title>{`${day}: ${format(value)}${series.length > 1 ? ` ${name.toLowerCase()}` : ''}`}</title>
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
    <caption class="unseen">{title}, by day</caption>
    <thead>
      <tr>
        <th scope="col">Day</th>
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

/** 1, 2 or 5 times a power of ten, at least as high as the highest bar. */
export function niceTop(highest: number): number {
  if (highest <= 1) return 1
  const power = 10 ** Math.floor(Math.log10(highest))
  return [1, 2, 5, 10].map((factor) => factor * power).find((top) => top >= highest) ?? highest
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
