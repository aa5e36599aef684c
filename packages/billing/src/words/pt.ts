import type { Words } from './words.ts'

/** Portuguese. */
export const pt: Words = {
  invoice: {
    invoice: 'Fatura',
    receipt: 'Recibo',
    number: 'Número',
    date: 'Data',
    billedTo: 'Faturado a',
    description: 'Descrição',
    period: 'Período',
    amount: 'Valor',
    subtotal: 'Subtotal',
    discount: 'Desconto',
    tax: 'Imposto',
    included: 'incluído',
    total: 'Total',
    paidFromCredit: 'Pago com crédito',
    balanceFromBefore: 'Saldo anterior',
    amountPaid: 'Valor pago',
    amountDue: 'Valor a pagar',
    page: 'página {page} de {pages}',
    creditNote: 'Nota de crédito',
    forInvoice: 'Da fatura',
    refunded: 'Reembolsado',
    toBalance: 'Creditado no seu saldo',
    outside: 'Liquidado de outra forma',
    taxId: 'Número fiscal',
    reverseCharge: 'Autoliquidação',
  },
  mail: {
    greeting: 'Olá, {name},',
    hello: 'Olá,',
    closing: 'Com os melhores cumprimentos',
    receipt: {
      subject: 'O seu recibo de {vendor}',
      text: 'Recebemos o seu pagamento de {amount} por {product}. Obrigado.',
    },
    payment_failed: {
      subject: 'O seu pagamento a {vendor} falhou',
      text: 'Não conseguimos cobrar {amount} por {product}.',
    },
    action_required: {
      subject: 'Confirme o seu pagamento a {vendor}',
      text: 'O seu banco pede que confirme o pagamento de {amount} por {product}. Até lá, não está concluído.',
    },
    trial_ending: {
      subject: 'O seu período de teste de {product} termina em {date}',
      text: 'O seu período de teste de {product} termina em {date}.',
    },
    card_expiring: {
      subject: 'O seu cartão está prestes a expirar',
      text: 'O seu cartão {card} expira no fim de {month}. Indique outro até lá para que os seus pagamentos por {product} continuem.',
    },
    refunded: {
      subject: 'O seu reembolso de {vendor}',
      text: 'Devolvemos-lhe {amount}. Podem passar alguns dias até que apareça na sua conta.',
    },
    triedAgain: 'Tentaremos de novo em {date}. Verifique até lá o seu meio de pagamento.',
    lastAttempt: 'Indique outro meio de pagamento para que a sua subscrição possa continuar.',
    subscriptionFollows: 'Se não cancelar antes, a sua subscrição continua e será cobrada.',
    noSubscription: 'Se quiser continuar a usar, faça uma subscrição.',
    changeMethod: 'Alterar o meio de pagamento',
    confirm: 'Confirmar o pagamento',
    manage: 'Gerir a subscrição',
  },
}
