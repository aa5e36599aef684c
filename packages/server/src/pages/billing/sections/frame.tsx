import type { Child, FC } from 'hono/jsx'
import { assetUrl } from '../../parts/assets.ts'

/** Around every page with forms about money: its part of the stylesheet, and its script. */
export const BillingFrame: FC<{ children?: Child }> = ({ children }) => (
  <div class="billing">
    {children}
    <script type="module" src={assetUrl('billing.js')} />
  </div>
)
