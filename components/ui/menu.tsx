"use client"

import * as Radix from "@radix-ui/react-dropdown-menu"
import type { ComponentProps, ReactNode } from "react"
import { cn } from "./cn"

export const MenuRoot = Radix.Root
export const MenuTrigger = Radix.Trigger
export const MenuRadioGroup = Radix.RadioGroup

export function MenuContent({ className, ...props }: ComponentProps<typeof Radix.Content>) {
  return (
    <Radix.Portal>
      <Radix.Content
        sideOffset={4}
        collisionPadding={8}
        {...props}
        className={cn(
          "z-50 max-h-[var(--radix-dropdown-menu-content-available-height)] min-w-48 overflow-y-auto rounded-md border border-line bg-raised p-1 shadow-pop data-[state=open]:animate-[appear_.1s_ease-out]",
          className,
        )}
      />
    </Radix.Portal>
  )
}

const itemClass =
  "flex select-none items-center gap-2 rounded-sm px-2 py-[5px] text-text outline-none data-[disabled]:opacity-50 data-[highlighted]:bg-hover touch:min-h-11 [&_svg]:size-3.5 [&_svg]:shrink-0 [&_svg]:text-text-3"

export function MenuItem({ className, danger, ...props }: ComponentProps<typeof Radix.Item> & { danger?: boolean }) {
  return <Radix.Item {...props} className={cn(itemClass, danger && "text-bad! [&_svg]:text-bad!", className)} />
}

export function MenuRadioItem({ children, ...props }: ComponentProps<typeof Radix.RadioItem>) {
  return (
    <Radix.RadioItem {...props} className={itemClass}>
      {children}
      <Radix.ItemIndicator className="ml-auto text-alive">✓</Radix.ItemIndicator>
    </Radix.RadioItem>
  )
}

/** Stays open when it is changed: it says how the other items are meant. */
export function MenuCheckboxItem({ children, ...props }: ComponentProps<typeof Radix.CheckboxItem>) {
  return (
    <Radix.CheckboxItem {...props} onSelect={(event) => event.preventDefault()} className={itemClass}>
      {children}
      <Radix.ItemIndicator className="ml-auto text-alive">✓</Radix.ItemIndicator>
    </Radix.CheckboxItem>
  )
}

export const MenuLabel = ({ children }: { children: ReactNode }) => (
  <Radix.Label className="px-2 pt-1.5 pb-1 text-text-3 text-xs">{children}</Radix.Label>
)
export const MenuSeparator = () => <Radix.Separator className="-mx-1 my-1 h-px bg-line-soft" />
