"use client"

import { Bell, BellOff } from "lucide-react"
import { useEffect, useState } from "react"
import { IconButton } from "@/components/ui/button"
import { notificationsOn, turnNotifications } from "@/lib/client/notifications"

export function NotifyToggle() {
  const [on, setOn] = useState(false)
  useEffect(() => setOn(notificationsOn()), [])
  return (
    <IconButton
      label={on ? "Notifications are on" : "Notify me when a session needs me"}
      aria-pressed={on}
      onClick={() => void turnNotifications(!on).then(setOn)}
    >
      {on ? <Bell className="size-3.5 text-alive" /> : <BellOff className="size-3.5" />}
    </IconButton>
  )
}
