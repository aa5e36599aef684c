import type { FC } from 'hono/jsx'
import { encode } from 'uqr'

/** Width of the empty border that readers need, in modules (ISO/IEC 18004). */
const QUIET_ZONE = 4

/** A QR code as an SVG image. It stays black on white in dark mode, which some readers need. */
export const QrCode: FC<{ content: string; label: string }> = ({ content, label }) => {
  const { data, size } = encode(content, { border: QUIET_ZONE, ecc: 'M' })
  const squares = data.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])),
  )
  return (
    <svg
      class="qr-code"
      viewBox={`0 0 ${size} ${size}`}
      width="220"
      height="220"
      role="img"
      aria-label={label}
      shape-rendering="crispEdges"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={squares.join('')} fill="#000" />
    </svg>
  )
}
