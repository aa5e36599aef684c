import type { FC } from 'hono/jsx'
import { assetUrl } from '../assets.ts'

/** At the end of every page with a form about money. */
export const BillingScript: FC = () => <script type="module" src={assetUrl('billing.js')} />
